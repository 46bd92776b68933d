import { apiAddress } from '../client/page-settings.ts';
import { texts } from '../ui/texts.ts';
import { useCopy } from '../ui/use-copy.ts';

const { commands: words, metrics } = texts.operate;

/** Of docs/guides/laboratory.md. */
const lines = {
  export: 'npm run export -- --user "$USER_ID" --to /secure/place --stack "$STACK"',
  erase: 'npm run erase -- --user "$USER_ID" --stack "$STACK"',
} as const;

/** What operators do outside of the console: commands to copy, and where the metrics are. */
export function CommandsPart() {
  return (
    <div class="cards below">
      <section class="card">
        <h2>{words.title}</h2>
        <p>{words.hint}</p>
        {(['export', 'erase'] as const).map((name) => (
          <Command key={name} name={words[name]} line={lines[name]} />
        ))}
        <p class="aside">{words.more}</p>
      </section>
      <section class="card">
        <h2>{metrics.title}</h2>
        <p>{metrics.hint}</p>
        <p>
          <code>{`${apiAddress()}/api/v1/metrics`}</code>
        </p>
        <a href={`${apiAddress()}/docs#/For%20operators/getMetrics`}>{metrics.link}</a>
      </section>
    </div>
  );
}

function Command({ name, line }: { readonly name: string; readonly line: string }) {
  const { isCopied, copy } = useCopy(line);
  return (
    <>
      <div class="bar">
        <h3>{name}</h3>
        <button type="button" class="tiny push" aria-label={`${texts.common.copy}: ${name}`} onClick={copy}>
          <span aria-live="polite">{isCopied ? texts.common.copied : texts.common.copy}</span>
        </button>
      </div>
      <pre class="command">{line}</pre>
    </>
  );
}
