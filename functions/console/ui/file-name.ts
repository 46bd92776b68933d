/** A title as the name of a file, without its end: letters and digits, 80 characters at most. */
export function fileName(title: string): string {
  return title.replace(/[^\p{L}\p{N}]+/gu, '-').slice(0, 80);
}
