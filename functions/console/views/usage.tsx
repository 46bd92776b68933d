import type { OwnLimits } from '../../schemas/limits.ts';
import { formatTime } from '../format.ts';
import { Shown } from '../parts/basics.tsx';
import { LimitBars } from '../parts/limit-bars.tsx';
import { UsageReport } from '../parts/usage-report.tsx';
import { texts } from '../texts.ts';
import { useCall } from '../use-call.ts';

const { usage: words } = texts;

export function UsageView() {
  const limits = useCall<OwnLimits>('/api/v1/limits');
  return (
    <>
      <h1>{texts.views.usage}</h1>
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
      <h2>{words.title}</h2>
      <UsageReport scope="own" />
    </>
  );
}
