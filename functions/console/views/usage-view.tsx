import type { OwnLimits } from '../../schemas/limits.ts';
import { useCall } from '../client/use-call.ts';
import { LimitBars } from '../parts/limit-bars.tsx';
import { UsageFigures } from '../parts/usage-figures.tsx';
import { Shown } from '../ui/basics.tsx';
import { formatTime } from '../ui/format.ts';
import { texts } from '../ui/texts.ts';

const { usage: words } = texts;

/** What the person used, and what is left to them. Operators have everyone's usage elsewhere. */
export function UsageView() {
  const limits = useCall<OwnLimits>('/api/v1/limits');
  return (
    <>
      <h1>{texts.views.usage}</h1>
      <UsageFigures scope="own" />
      <section class="card">
        <h2>{words.limits}</h2>
        <Shown loaded={limits}>
          {(own) => (
            <>
              <LimitBars limits={own} />
              <p class="aside">{words.monthEnds(formatTime(own.month_ends_at))}</p>
            </>
          )}
        </Shown>
      </section>
    </>
  );
}
