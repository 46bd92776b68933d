/** Where the amplitudes of a device's channels end, in rad/µs, by the ids of the channels. */
export interface ChannelBounds {
  readonly device: string;
  readonly amplitudes: ReadonlyMap<string, number>;
}
