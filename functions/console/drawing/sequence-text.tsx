import { download, Pre } from '../ui/basics.tsx';
import { formatCount } from '../ui/format.ts';
import { texts } from '../ui/texts.ts';

const { sequence: words } = texts;

/** A longer text is shown in part: the browser would be busy with it. */
const maxShown = 200_000;

/** The text of a sequence, folded, and as a file. */
export function SequenceText({ text, name }: { readonly text: string; readonly name: string }) {
  return (
    <details>
      <summary>{words.text}</summary>
      <div class="actions">
        <button type="button" onClick={() => download(`${name}.json`, 'application/json', text)}>
          {words.download}
        </button>
        {text.length > maxShown && (
          <span class="aside">
            {words.shown} {formatCount(maxShown)} {words.of} {formatCount(text.length)}.
          </span>
        )}
      </div>
      <Pre text={text.slice(0, maxShown)} />
    </details>
  );
}
