import { useMemo, useState } from 'preact/hooks';
import { Dialog } from '../ui/basics.tsx';
import { formatCount } from '../ui/format.ts';
import { texts } from '../ui/texts.ts';
import type { JobDraft } from './cell-values.ts';
import { headBlock, readBlock, type TableColumn, withBlock } from './pasted-block.ts';
import { maxJobs } from './sweep.ts';

const { paste: words } = texts.newBatch;

interface Props {
  readonly columns: readonly TableColumn[];
  readonly jobs: readonly JobDraft[];
  readonly change: (jobs: readonly JobDraft[]) => void;
  readonly close: () => void;
}

/** Takes cells of a spreadsheet as rows. Browsers ask no permission for what people paste here. */
export function PasteDialog({ columns, jobs, change, close }: Props) {
  const [text, setText] = useState('');
  const [isAppended, setAppended] = useState(false);
  const block = useMemo(() => readBlock(text), [text]);
  const headed = headBlock(block, columns);
  const room = isAppended ? maxJobs - jobs.length : maxJobs;
  const count = Math.min(headed.rows.length, room);
  const apply = () => {
    const base = isAppended ? jobs : jobs.slice(0, 1);
    change(withBlock(base, block, headed, isAppended ? jobs.length : 0, maxJobs));
    close();
  };
  return (
    <Dialog title={words.title} close={close}>
      <p class="aside">{words.hint}</p>
      <p class="aside">
        {words.order}: <bdi>{columns.map(({ label }) => label).join(', ')}</bdi>
      </p>
      <label>
        {words.label}
        <textarea
          class="code"
          rows={8}
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <label>
        {words.where}
        <select
          value={String(isAppended)}
          onChange={({ currentTarget }) => setAppended(currentTarget.value === 'true')}
        >
          <option value="false">{words.replace}</option>
          <option value="true">{words.append}</option>
        </select>
      </label>
      <div role="status">
        {headed.unknown.length > 0 && <p class="fault">{words.unknown(headed.unknown.join(', '))}</p>}
        {headed.rows.length > room && <p class="fault">{words.cut}</p>}
      </div>
      <div class="actions">
        <button type="button" onClick={close}>
          {texts.common.cancel}
        </button>
        <button type="button" class="main" disabled={count < 1} onClick={apply}>
          {words.apply(formatCount(Math.max(0, count)))}
        </button>
      </div>
    </Dialog>
  );
}
