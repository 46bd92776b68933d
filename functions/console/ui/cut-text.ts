/** The beginning of a text that is longer than `max` characters. */
export function cutEnd(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}

/** Both ends of a text that is longer than `max` characters, an even number. */
export function cutMiddle(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max / 2)}…${text.slice(1 - max / 2)}`;
}
