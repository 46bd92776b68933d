/** The words of a text: a long list of short values takes few lines. */
export const words = (text: string): string[] => text.trim().split(/\s+/);
