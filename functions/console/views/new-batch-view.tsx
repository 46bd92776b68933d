import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { deviceModes } from '../../device-modes.ts';
import type { Batch } from '../../schemas/batch.ts';
import type { Project } from '../../schemas/claims.ts';
import type { Device } from '../../schemas/device.ts';
import type { OwnLimits } from '../../schemas/limits.ts';
import { type Fault, faultsElsewhere, type Place } from '../client/fault-places.ts';
import { type Api, CallFailed } from '../client/public-api.ts';
import { useAction, useCall, useSigned } from '../client/use-call.ts';
import { LimitBars } from '../parts/limit-bars.tsx';
import { go, linkTo, useAddress } from '../ui/address.ts';
import { Facts, Failure, Faults } from '../ui/basics.tsx';
import { Field } from '../ui/field.tsx';
import { Options, onSubmit } from '../ui/form.tsx';
import { formatAgo, formatCount, formatTime } from '../ui/format.ts';
import { texts } from '../ui/texts.ts';
import { type Draft, emptyDraft, type JobDraft, type Program, readProgram, requestOf } from './program.ts';

const { newBatch: words } = texts;

/** What a check answers, without creating anything. */
interface Verdict {
  readonly faults: readonly Fault[];
  readonly estimated_start?: { readonly earliest: string; readonly likely: string; readonly latest: string } | null;
  readonly estimated_start_reason?: string | null;
  readonly limits?: OwnLimits | null;
}

const settings: readonly Place[] = [
  'project_id',
  'device_type',
  'queue_priority',
  'tags',
  'webhook',
  'sequence_builder',
].map((name) => ['body', name]);

export function NewBatchView() {
  const [draft, setDraft] = useDraft();
  const program = useMemo(() => readProgram(draft.text), [draft.text]);
  const change = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part, key: crypto.randomUUID() }));
  const { act, faults, verdict } = useSending(draft, program, () => setDraft(emptyDraft));
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (faults.length > 0) form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus();
  }, [faults]);
  const elsewhere = faultsElsewhere(faults, [...settings, ...draft.jobs.map((_, at) => ['body', 'jobs', at])]);
  return (
    <form ref={form} onSubmit={onSubmit(() => act.run('send'))}>
      <h1>{texts.views.newBatch}</h1>
      <ProgramPart draft={draft} program={program} change={change} faults={faults} />
      <JobsPart draft={draft} program={program} change={change} faults={faults} />
      <SettingsPart draft={draft} program={program} change={change} faults={faults} />
      <Failure failure={act.failure} faults={elsewhere} />
      {verdict !== undefined && <VerdictPart verdict={verdict} elsewhere={elsewhere} />}
      <div class="actions">
        <button type="submit" class="main" disabled={act.isRunning}>
          {words.send}
        </button>
        <button type="button" disabled={act.isRunning} onClick={() => act.run('check')}>
          {words.check}
        </button>
        <span role="status">{act.isRunning && words.checking}</span>
      </div>
    </form>
  );
}

/** Checks and sends. A draft that is sent again creates no second batch. */
function useSending(draft: Draft, program: Program | undefined, clear: () => void) {
  const [faults, setFaults] = useState<readonly Fault[]>([]);
  const [verdict, setVerdict] = useState<Verdict>();
  const post = async <Data,>(api: Api, body: object, call: object): Promise<Data> => {
    try {
      return (await api.call<Data>('/api/v1/batches', { method: 'POST', body, ...call })).data;
    } catch (error) {
      if (error instanceof CallFailed) setFaults(error.faults);
      throw error;
    }
  };
  const finish = ({ id }: Batch) => {
    clear();
    go(linkTo(['batch', id]));
  };
  const act = useAction(async (api: Api, how: 'check' | 'send') => {
    const { body, faults: found } = requestOf(draft, program);
    setVerdict(undefined);
    setFaults(found);
    if (found.length > 0) return;
    const judged = await post<Verdict | Batch>(api, body, { query: { validate_only: true } });
    // A service that knows no checks has created the batch.
    if ('id' in judged) return finish(judged);
    setFaults(judged.faults);
    if (how === 'check' || judged.faults.length > 0) return setVerdict(judged);
    finish(await post<Batch>(api, body, { idempotencyKey: draft.key }));
  });
  return { act, faults, verdict };
}

/** The draft stays in the tab until it is sent, also when the session ends meanwhile. */
function useDraft() {
  const { session } = useSigned();
  const name = `draft:${session.userId}`;
  const state = useState<Draft>(() => ({ ...emptyDraft, ...JSON.parse(sessionStorage.getItem(name) ?? '{}') }));
  const current = useRef(state[0]);
  current.current = state[0];
  useEffect(() => {
    const keep = () => {
      try {
        if (current.current === emptyDraft) sessionStorage.removeItem(name);
        else sessionStorage.setItem(name, JSON.stringify(current.current));
      } catch {
        // The tab keeps some megabytes: without the program, the rest still fits.
        sessionStorage.setItem(name, JSON.stringify({ ...current.current, text: '' }));
      }
    };
    addEventListener('pagehide', keep);
    return () => {
      removeEventListener('pagehide', keep);
      keep();
    };
  }, [name]);
  return state;
}

interface PartProps {
  readonly draft: Draft;
  readonly program: Program | undefined;
  readonly change: (part: Partial<Draft>) => void;
  readonly faults: readonly Fault[];
}

/** A longer text is not shown: the field would be slow. */
const maxShownCharacters = 100_000;

function ProgramPart({ draft: { text, fileName }, program, change, faults }: PartProps) {
  const read = async (files: FileList | null | undefined) => {
    const file = files?.[0];
    if (file !== undefined) change({ text: await file.text(), fileName: file.name });
  };
  const isUnreadable = text.trim() !== '' && program === undefined;
  return (
    <section class="card">
      <h2>{words.program}</h2>
      <p class="aside">{words.programHint}</p>
      <div class="form">
        <Field label={words.file} wide>
          <input
            type="file"
            accept=".json,application/json"
            onChange={(event) => void read(event.currentTarget.files)}
          />
        </Field>
        <Field
          label={words.text}
          hint={isUnreadable ? words.unreadable : undefined}
          place={['body', 'sequence_builder']}
          faults={faults}
          wide
        >
          {text.length > maxShownCharacters ? (
            <input readOnly value={`${fileName ?? words.text}: ${formatCount(text.length)} ${words.characters}`} />
          ) : (
            <textarea
              class="code"
              rows={5}
              spellcheck={false}
              value={text}
              placeholder={words.placeholder}
              onInput={(event) => change({ text: event.currentTarget.value, fileName: undefined })}
              onDrop={(event) => {
                if (event.dataTransfer?.files.length === 0) return;
                event.preventDefault();
                void read(event.dataTransfer?.files);
              }}
            />
          )}
        </Field>
      </div>
      {program !== undefined && (
        <Facts
          facts={[
            [words.facts.name, <bdi key="name">{program.name ?? texts.common.none}</bdi>],
            [words.facts.device, <bdi key="device">{program.deviceName ?? texts.common.none}</bdi>],
            [words.facts.qubits, program.qubits === undefined ? texts.common.none : formatCount(program.qubits)],
            [
              words.facts.operations,
              program.operations === undefined ? texts.common.none : formatCount(program.operations),
            ],
            [words.facts.variables, formatCount(program.variables.length)],
          ]}
        />
      )}
      {text !== '' && (
        <button type="button" class="below" onClick={() => change({ text: '', fileName: undefined })}>
          {words.clear}
        </button>
      )}
    </section>
  );
}

function JobsPart({ draft: { jobs }, program, change, faults }: PartProps) {
  const adding = useRef<HTMLButtonElement>(null);
  const remove = (at: number) => {
    change({ jobs: jobs.toSpliced(at, 1) });
    // The button that had the focus goes.
    adding.current?.focus();
  };
  const set = (at: number, part: Partial<JobDraft>) => change({ jobs: jobs.with(at, { ...jobs[at]!, ...part }) });
  const add = () => {
    const last = jobs.at(-1) ?? emptyDraft.jobs[0]!;
    change({ jobs: [...jobs, { ...last, id: Math.max(0, ...jobs.map(({ id }) => id)) + 1 }] });
  };
  return (
    <section class="card">
      <h2>{words.jobs}</h2>
      <p class="aside">{words.jobsHint}</p>
      {jobs.map((job, at) => (
        <JobRow
          key={job.id}
          job={job}
          at={at}
          program={program}
          faults={faults}
          set={(part) => set(at, part)}
          remove={jobs.length > 1 ? () => remove(at) : undefined}
        />
      ))}
      <button type="button" ref={adding} onClick={add}>
        {words.addJob}
      </button>
    </section>
  );
}

function JobRow({
  job,
  at,
  program,
  faults,
  set,
  remove,
}: Pick<PartProps, 'program' | 'faults'> & {
  readonly job: JobDraft;
  readonly at: number;
  readonly set: (part: Partial<JobDraft>) => void;
  readonly remove: (() => void) | undefined;
}) {
  const place = ['body', 'jobs', at];
  const variables = program?.variables ?? [];
  const places = [[...place, 'runs'], ...variables.map(({ name }) => [...place, 'variables', name])];
  const own = faults.filter(({ loc }) => loc[1] === 'jobs' && loc[2] === at);
  return (
    <fieldset>
      <legend>
        {words.job} {at + 1}
      </legend>
      <div class="form">
        <Field label={words.runs} place={[...place, 'runs']} faults={faults}>
          <input type="number" min="1" value={job.runs} onInput={(event) => set({ runs: event.currentTarget.value })} />
        </Field>
        {variables.map((variable) => (
          <Field
            key={variable.name}
            label={variable.qubits === undefined ? variable.name : words.traps}
            hint={words.needs(variable)}
            place={[...place, 'variables', variable.name]}
            faults={faults}
          >
            <input
              inputMode={variable.size === 1 ? 'decimal' : 'text'}
              value={job.values[variable.name] ?? ''}
              onInput={(event) => set({ values: { ...job.values, [variable.name]: event.currentTarget.value } })}
            />
          </Field>
        ))}
        {remove !== undefined && (
          <button type="button" class="low" onClick={remove}>
            {words.removeJob} {at + 1}
          </button>
        )}
      </div>
      <div class="fault">
        <Faults faults={faultsElsewhere(own, places)} />
      </div>
    </fieldset>
  );
}

function SettingsPart({ draft, program, change, faults }: PartProps) {
  const devicesCall = useCall<Device[]>('/api/v1/devices');
  const projectsCall = useCall<Project[]>('/api/v1/projects');
  const devices = devicesCall.answer?.data ?? [];
  const projects = projectsCall.answer?.data.filter(({ rights }) => rights.includes('submit'));
  const wanted = useAddress().query.get('project_id');
  useEffect(() => {
    const project = projects?.find(({ id }) => id === wanted) ?? projects?.[0];
    if (draft.project_id === '' && project !== undefined) change({ project_id: project.id });
  }, [projectsCall.answer]);
  const field = (name: keyof typeof words.fields) => ({ label: words.fields[name], place: ['body', name], faults });
  const input = (name: 'project_id' | 'webhook' | 'tags') => ({
    value: draft[name],
    onInput: (event: { readonly currentTarget: { readonly value: string } }) =>
      change({ [name]: event.currentTarget.value }),
  });
  const takes = ({ mode }: Device) => deviceModes[mode].accepts;
  return (
    <section class="card">
      <h2>{words.settings}</h2>
      <Failure failure={devicesCall.failure} retry={devicesCall.reload} />
      <Failure failure={projectsCall.failure} retry={projectsCall.reload} />
      <div class="form roomy">
        <Field {...field('device_type')} hint={deviceHint(draft, program, devices)}>
          <select value={draft.device_type} onChange={(event) => change({ device_type: event.currentTarget.value })}>
            <option value="">
              {program?.deviceName === undefined ? words.chooseDevice : words.ownDevice(program.deviceName)}
            </option>
            <Options of={devices.filter(takes).map(({ device_type }) => device_type)} />
          </select>
        </Field>
        <Field
          {...field('project_id')}
          hint={
            projects?.length === 0
              ? projectsCall.answer?.data.length === 0
                ? words.noProject
                : words.noSubmission
              : undefined
          }
        >
          <input list="projects" required spellcheck={false} {...input('project_id')} />
        </Field>
        <datalist id="projects">
          {projects?.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </datalist>
        <Field {...field('queue_priority')}>
          <select
            value={draft.queue_priority}
            onChange={(event) => change({ queue_priority: event.currentTarget.value })}
          >
            <option value="">{words.ownPriority}</option>
            <Options of={texts.priorities} />
          </select>
        </Field>
        <Field {...field('webhook')} hint={words.webhookHint}>
          <input type="url" {...input('webhook')} />
        </Field>
        <Field {...field('tags')} hint={words.tagsHint}>
          <textarea rows={2} {...input('tags')} />
        </Field>
        <label>
          <input
            type="checkbox"
            checked={draft.open}
            onChange={(event) => change({ open: event.currentTarget.checked })}
          />
          {words.fields.open}
        </label>
      </div>
    </section>
  );
}

/** Why the device that was chosen may not start soon. */
function deviceHint({ device_type }: Draft, program: Program | undefined, devices: readonly Device[]) {
  const device = devices.find((each) => each.device_type === (device_type || program?.deviceName));
  if (device === undefined) return undefined;
  if (device.availability !== 'ACTIVE') return `${words.inactive} ${device.status_message ?? ''}`;
  return words.ahead(device.queue_length === null ? texts.devices.longQueue : formatCount(device.queue_length));
}

function VerdictPart({ verdict, elsewhere }: { readonly verdict: Verdict; readonly elsewhere: readonly Fault[] }) {
  const { faults, estimated_start: start, estimated_start_reason: reason, limits } = verdict;
  if (faults.length > 0) {
    return (
      <div class="failure" role="alert">
        <p>
          <strong>{words.faulty(faults.length)}</strong>
        </p>
        <Faults faults={elsewhere} />
      </div>
    );
  }
  return (
    <section class="card" role="status">
      <p>
        <strong>{words.faultless}</strong>{' '}
        {start !== null && start !== undefined ? (
          <span title={`${formatTime(start.earliest)} – ${formatTime(start.latest)}`}>
            {words.start(formatAgo(start.likely), formatTime(start.latest))}
          </span>
        ) : (
          words.noStart[reason as keyof typeof words.noStart]
        )}
      </p>
      {limits?.left !== undefined && <LimitBars limits={limits} />}
    </section>
  );
}
