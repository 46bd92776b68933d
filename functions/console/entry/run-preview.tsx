import { useMemo } from 'preact/hooks';
import type { Device } from '../../schemas/device.ts';
import type { ChannelBounds } from '../drawing/channel-bounds.ts';
import { Pulses } from '../drawing/pulses.tsx';
import { readRegister } from '../drawing/qubit-places.ts';
import { readSequence } from '../drawing/readable-sequence.ts';
import { Register } from '../drawing/register.tsx';
import { schedule } from '../drawing/timeline.ts';
import { formatCount } from '../ui/format.ts';
import { texts } from '../ui/texts.ts';
import { type JobDraft, readJob, textOf } from './cell-values.ts';
import { labelOf, type Program } from './program.ts';

const { drawn: words } = texts.newBatch;

/** Of more jobs than these, the one to draw is typed. */
const maxOptions = 200;

/** Other jobs that are drawn in pale lines, and programs whose drawing costs little. */
const maxPale = 5;
const maxPaleOperations = 60;

interface Props {
  readonly program: Program;
  readonly jobs: readonly JobDraft[];
  readonly chosen: number;
  readonly choose: (row: number) => void;
  readonly device: Device | undefined;
}

/** Register and pulses of one job, before it is sent. */
export function RunPreview({ program, jobs, chosen, choose, device }: Props) {
  const row = Math.min(chosen, jobs.length - 1);
  const { variables } = program;
  const sequence = useMemo(() => readSequence(program.text) ?? {}, [program]);
  const drawing = useMemo(() => {
    const { job, faults } = readJob(jobs[row]!, variables);
    const given = job.variables;
    return {
      register: readRegister(sequence, given),
      timeline: schedule(sequence, given),
      isUnread: faults.length > 0,
    };
  }, [jobs[row], sequence]);
  const others = useMemo(
    () => paleJobs(jobs, row, program).map((each) => schedule(sequence, each)),
    [jobs, row, sequence],
  );
  const bounds = useMemo(() => boundsOf(device), [device]);
  return (
    <section class="card drawn" aria-label={words.title}>
      <div class="bar">
        <h2>{words.title}</h2>
        {jobs.length > 1 && (
          <span class="push aside inline">
            {words.job}
            {jobs.length > maxOptions ? (
              <input
                class="tiny-field"
                type="number"
                aria-label={words.whichJob}
                min={1}
                max={jobs.length}
                value={row + 1}
                onInput={({ currentTarget: { valueAsNumber: at } }) => jobs[at - 1] !== undefined && choose(at - 1)}
              />
            ) : (
              <select
                class="tiny-field"
                aria-label={words.whichJob}
                value={row}
                onChange={({ currentTarget }) => choose(Number(currentTarget.value))}
              >
                {jobs.map((job, at) => (
                  <option key={job.id} value={at}>
                    {titleOf(job, at, program)}
                  </option>
                ))}
              </select>
            )}
          </span>
        )}
      </div>
      <div class="drawing">
        {drawing.register !== undefined && <Register register={drawing.register} />}
        {drawing.isUnread && drawing.timeline.problem !== undefined ? (
          <p class="aside">{words.needsValues}</p>
        ) : (
          <Pulses timeline={drawing.timeline} others={others} bounds={bounds} />
        )}
      </div>
      {others.length > 0 && <p class="aside">{words.pale}</p>}
    </section>
  );
}

/** The variables of some of the other jobs, spread over all. */
function paleJobs(jobs: readonly JobDraft[], row: number, { variables, operations = 0 }: Program) {
  if (jobs.length < 2 || variables.length === 0 || operations > maxPaleOperations) return [];
  const places = Array.from({ length: maxPale }, (_, at) => Math.round((at * (jobs.length - 1)) / (maxPale - 1)));
  return [...new Set(places)]
    .filter((place) => place !== row)
    .map((place) => readJob(jobs[place]!, variables))
    .filter(({ faults }) => faults.length === 0)
    .map(({ job }) => job.variables);
}

/** `24 · omega = 6`, by the first variable. */
function titleOf(job: JobDraft, at: number, { variables }: Program): string {
  const [first] = variables;
  const text = first === undefined ? '' : textOf(job, first.name);
  const place = formatCount(at + 1);
  return first === undefined || text === '' ? place : `${place} · ${labelOf(first)} = ${text.slice(0, 24)}`;
}

/** The amplitudes at which the device's channels end. */
function boundsOf(device: Device | undefined): ChannelBounds | undefined {
  if (device === undefined) return undefined;
  const channels = (device.channels ?? []).flatMap(({ id, max_amp }) =>
    typeof max_amp === 'number' ? [[String(id), max_amp] as const] : [],
  );
  return { device: device.device_type, amplitudes: new Map(channels) };
}
