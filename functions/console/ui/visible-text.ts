/**
 * Signs that turn the direction of a text, or are not seen, are shown: `exe.png` may be `gnp.exe`.
 * Joiners are left: scripts and emoji need them.
 */
export function visible(text: string): string {
  return text.replace(/(?![\u200c\u200d])[\p{Cc}\p{Cf}]/gu, '␣');
}
