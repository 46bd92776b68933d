import { useState } from 'preact/hooks';
import { go } from '../ui/address.ts';
import { onSubmit } from '../ui/form.tsx';
import { texts } from '../ui/texts.ts';
import { type UsageRange, usualRanges } from './usage-periods.ts';

const { usage: words } = texts;

interface Props {
  readonly range: UsageRange;
  readonly link: (changed: Readonly<Record<string, string | undefined>>) => string;
}

/** The time of a report: a usual range, or days that are given. */
export function RangeChoice({ range, link }: Props) {
  const ranges = usualRanges(new Date(), words.year);
  const chosen = ranges.findIndex(
    ({ from, to, period }) => from === range.from && to === range.to && period === range.period,
  );
  const [isOther, setOther] = useState(false);
  const hasForm = isOther || chosen < 0;
  const submit = (form: HTMLFormElement) => {
    go(link(Object.fromEntries(Array.from(new FormData(form), ([name, value]) => [name, String(value)]))));
    setOther(false);
  };
  return (
    <>
      <fieldset class="choice" aria-label={words.range}>
        {ranges.map(({ name, from, to, period }, at) => (
          <label key={name}>
            <input
              type="radio"
              name="range"
              checked={!hasForm && at === chosen}
              onChange={() => {
                setOther(false);
                // What the address leaves out is this month, also when the next one has begun.
                go(link(at === 0 ? { from: undefined, to: undefined, period: undefined } : { from, to, period }));
              }}
            />
            {name}
          </label>
        ))}
        <label>
          <input type="radio" name="range" checked={hasForm} onChange={() => setOther(true)} />
          {words.otherRange}
        </label>
      </fieldset>
      {hasForm && (
        <form class="actions" onSubmit={onSubmit(submit)}>
          {(['from', 'to'] as const).map((name) => (
            <label key={name} class="beside">
              {words.form[name]}
              <input type="date" name={name} required value={range[name]} />
            </label>
          ))}
          <select name="period" aria-label={words.form.period} value={range.period}>
            <option value="day">{words.form.day}</option>
            <option value="month">{words.form.month}</option>
          </select>
          <button type="submit">{words.form.apply}</button>
        </form>
      )}
    </>
  );
}
