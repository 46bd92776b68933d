import { useState } from 'preact/hooks';

/** Copies a text; for a moment after that, `isCopied` is true. */
export function useCopy(text: string): { readonly isCopied: boolean; readonly copy: () => void } {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return { isCopied, copy: () => void copy() };
}
