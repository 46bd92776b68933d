import type { Channel, SequenceContent, Specification } from '../pulser/sequence-content.ts';
import type { Judged } from './rule.ts';
import { ownDevice } from './sequence-form.ts';

/**
 * The devices that judge a sequence: the one that it was made for, then the announced one. An
 * announced virtual device does not judge: emulators run sequences on the device that they were
 * made for. None where the sequence only names its device, and we do not know it.
 */
export function judgedBy(content: SequenceContent, announced: Specification | undefined): readonly Judged[] {
  const own = ownDevice(content);
  if (own === undefined) return [];
  const devices = announced?.is_virtual === false ? [own, announced] : [own];
  return devices.map((device) => judged(content, device, own));
}

function judged(content: SequenceContent, device: Specification, own: Specification): Judged {
  const isOwn = device === own;
  // A body may hold thousands of channels, and operations that look for them.
  const kindOf = ({ basis, addressing }: Channel) => `${basis} ${addressing}`;
  const byId = new Map(own.channels.toReversed().map((channel) => [channel.id, channel]));
  const byKind = Map.groupBy(device.channels, kindOf);
  const declared = (name: string) =>
    Object.hasOwn(content.channels, name) ? byId.get(String(content.channels[name])) : undefined;
  return {
    content,
    device,
    isOwn,
    bases: Object.keys(content.channels).flatMap((name) => declared(name)?.basis ?? []),
    channelsOf: (name) => {
      const channel = declared(name);
      if (channel === undefined) return [];
      return isOwn ? [channel] : (byKind.get(kindOf(channel)) ?? []);
    },
  };
}
