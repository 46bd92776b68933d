import { type AlarmDescription, alarms } from '../stack/alarms.ts';
import { period } from '../stack/watched-metrics.ts';

/** docs/guides/runbook.md: what each alarm means, and what to do. */
export function renderRunbook(): string {
  const groups = Map.groupBy(Object.entries(alarms), ([, { meaning, remedy }]) => `${meaning} ${remedy}`);
  return [
    '# Runbook',
    '',
    'Written by `npm run docs` from `infra/stack/alarms.ts`.',
    '',
    'Every alarm reports to the topic `AlarmTopic`, with what it means and what to do. It ends by itself when its cause is gone.',
    '',
    'For each alarm Logs Insights has saved queries, in the folder `STACK/ALARM`. Each is named after the log that it searches:',
    '',
    '| query | log |',
    '|---|---|',
    '| `gateway` | the access log of the API |',
    '| `gatewayErrors` | the gateway’s log of its own errors |',
    '| `functions`, `consumers`, `schedules`, `authorizer`, `rotation` | the log of this kind of function, `functions` of routes |',
    '',
    ...Array.from(groups.values(), renderAlarms),
  ].join('\n');
}

type NamedAlarm = readonly [name: string, description: AlarmDescription];

/** A section for alarms that mean the same. */
function renderAlarms(named: readonly NamedAlarm[]): string {
  const [, { meaning, remedy, folder, queries }] = named[0]!;
  const byThreshold = Map.groupBy(named, ([, description]) => describeThreshold(description));
  const thresholds = Array.from(byThreshold, ([threshold, alike]) =>
    byThreshold.size === 1 ? threshold : `${threshold} (${alike.map(([name]) => `\`${name}\``).join(', ')})`,
  );
  return [
    `## ${named.map(([name]) => name).join(', ')}`,
    '',
    `**Goes off at** ${thresholds.join(', ')}.`,
    '',
    `**Means:** ${meaning}`,
    '',
    `**Do:** ${remedy}`,
    '',
    `**Queries:** ${Object.keys(queries)
      .map((name) => `\`${name}\``)
      .join(', ')}${folder === undefined ? '' : ` in \`STACK/${folder}\``}`,
    '',
  ].join('\n');
}

function describeThreshold(description: AlarmDescription): string {
  return describeValue(description) + (description.isBreachingWithoutData ? ', or without any value in them' : '');
}

function describeValue({ threshold, unit, periods = 1 }: AlarmDescription): string {
  const span = `${period.toMinutes()} minutes`;
  const during = periods === 1 ? span : `each of ${periods} successive periods of ${span}`;
  const seconds = { seconds: threshold, milliseconds: threshold / 1000 }[unit];
  if (seconds === undefined)
    return `${threshold.toLocaleString('en')} ${threshold === 1 ? unit.replace(/s$/, '') : unit} in ${during}`;
  return periods === 1 ? describeSeconds(seconds) : `${describeSeconds(seconds)} in ${during}`;
}

function describeSeconds(seconds: number): string {
  if (seconds % 3600 === 0) return `${seconds / 3600} hours`;
  return seconds % 60 === 0 ? `${seconds / 60} minutes` : `${seconds} s`;
}
