import { texts } from '../ui/texts.ts';
import { useCopy } from '../ui/use-copy.ts';

const { python: words } = texts;

/**
 * Lines of Python that fetch what a view shows, with a button that copies them. `sdk` is a client
 * of pasqal-cloud.
 */
export function PythonCode({ lines }: { readonly lines: readonly string[] }) {
  const { isCopied, copy } = useCopy(lines.join('\n'));
  return (
    <section class="card">
      <div class="bar">
        <h2>{words.title}</h2>
        <button type="button" class="tiny push" onClick={copy}>
          <span aria-live="polite">{isCopied ? texts.common.copied : texts.common.copy}</span>
        </button>
      </div>
      <div class="code">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard. */}
        <pre tabIndex={0}>
          {lines.map((line, at) => (
            <>
              {at > 0 && '\n'}
              {partsOf(line)}
            </>
          ))}
        </pre>
      </div>
    </section>
  );
}

/** Strings and names of methods have colors of their own. */
function partsOf(line: string) {
  return line.split(/("[^"]*"|\b\w+(?=\())/).map((part, at) => {
    if (at % 2 === 0) return part;
    return <span class={part.startsWith('"') ? 'str' : 'kw'}>{part}</span>;
  });
}

/** How pasqal-cloud reads a job and its counts. */
export function linesOfJob(id: string): readonly string[] {
  return [`job = sdk.get_job(\n    "${id}")`, 'counts = job.result', 'everything = job.full_result'];
}

/** How pasqal-cloud reads a batch and the counts of its jobs, in the order of the jobs. */
export function linesOfBatch(id: string): readonly string[] {
  return [
    `batch = sdk.get_batch(\n    "${id}")`,
    'jobs = batch.ordered_jobs',
    'counts = [(job.variables, job.result) for job in jobs]',
  ];
}
