import { setTimeout as wait } from 'node:timers/promises';

/**
 * What `look` finds. It is called again until it finds something, or until this number of seconds
 * has passed; then this throws.
 */
export async function eventually<Found>(
  seconds: number,
  look: () => Promise<Found | false | undefined>,
): Promise<Found> {
  for (const end = Date.now() + seconds * 1000; ; ) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`Not there after ${seconds} s.`);
    await wait(1_000);
  }
}
