import type { Clock } from '../../runtime/clock.ts';
import { requestMilliseconds } from '../../runtime/request-lifetime.ts';
import { timeLimits } from '../../time-limits.ts';
import { maxUnitsPerSecond } from './write-units.ts';

export interface PaceLimits {
  /** Write units a second on one partition key. The rest of what AWS allows is for other calls. */
  readonly unitsPerSecond?: number;
  /** After this number of seconds, a call goes on only if it will have ended at `most`. */
  readonly forAll?: number;
  /** After this number of seconds, nothing is tried again. */
  readonly most?: number;
}

/** What one more transaction without a throttle adds to the rate, in units a second. */
const recoveredUnits = 40;
const minUnitsPerSecond = maxUnitsPerSecond / 10;

/**
 * Spreads the transactions of one call over time, so that it leaves room on its partition keys for
 * other calls of the same user. A call of one transaction never waits.
 *
 * A call cannot know of others. So each throttle halves its rate, and each transaction without one
 * raises it again, by 40 units a second: two calls at once share a key evenly, with 90 % of what
 * AWS allows or more, by a simulation.
 */
export class WritePace {
  readonly #limits: Required<PaceLimits>;
  readonly #clock: Clock;
  /** On the clock's `elapsed`. */
  readonly #start: number;
  #unitsPerSecond: number;
  /** When the last transaction was begun. */
  #last = 0;
  #pauseMilliseconds = 0;
  #wasThrottled = false;
  #hasBegun = false;

  constructor(
    clock: Clock,
    {
      unitsPerSecond = 0.8 * maxUnitsPerSecond,
      forAll = timeLimits.pace.forAll,
      most = timeLimits.pace.most,
    }: PaceLimits = {},
  ) {
    this.#clock = clock;
    this.#start = clock.elapsed() - (requestMilliseconds() ?? 0);
    this.#limits = { unitsPerSecond, forAll, most };
    this.#unitsPerSecond = unitsPerSecond;
  }

  /** Waits until the next transaction may be begun. */
  async wait(): Promise<void> {
    const left = this.#millisecondsToWait();
    if (left > 0) await this.#clock.sleep(Math.ceil(left));
  }

  /** A transaction is begun: what it is decided from is read next. */
  begin(): void {
    this.#last = this.#clock.elapsed();
  }

  /** The transaction was made, and took this number of units on one key. */
  made(units: number): void {
    const raised = this.#wasThrottled ? 0 : recoveredUnits;
    this.#unitsPerSecond = Math.min(this.#limits.unitsPerSecond, this.#unitsPerSecond + raised);
    this.#wasThrottled = false;
    this.#hasBegun = true;
    this.#pauseMilliseconds = (1_000 * units) / this.#unitsPerSecond;
  }

  throttled(): void {
    this.#wasThrottled = true;
    this.#unitsPerSecond = Math.max(minUnitsPerSecond, this.#unitsPerSecond / 2);
  }

  /** Whether a transaction was made. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Whether nothing is to be tried again, or will be after these milliseconds. */
  isOver(milliseconds = 0): boolean {
    return this.#age() + milliseconds > 1_000 * this.#limits.most;
  }

  /**
   * Whether there is time for the `left` changes at the present rate. The last transaction made
   * `made` changes. Other work between the transactions may take longer: then the call stops when
   * its time is over.
   */
  hasTimeFor({ left, made }: { readonly left: number; readonly made: number }): boolean {
    const { forAll, most } = this.#limits;
    const next = this.#age() + this.#millisecondsToWait();
    if (!this.#hasBegun || next < 1_000 * forAll) return true;
    return next + (left / made) * this.#pauseMilliseconds < 1_000 * most;
  }

  #millisecondsToWait(): number {
    return Math.max(0, this.#last + this.#pauseMilliseconds - this.#clock.elapsed());
  }

  #age(): number {
    return this.#clock.elapsed() - this.#start;
  }
}
