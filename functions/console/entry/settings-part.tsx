import { useEffect } from 'preact/hooks';
import type { Project } from '../../schemas/claims.ts';
import type { Fault } from '../client/fault-places.ts';
import { useCall } from '../client/use-call.ts';
import { useAddress } from '../ui/address.ts';
import { Failure } from '../ui/basics.tsx';
import { Field } from '../ui/field.tsx';
import { Options } from '../ui/form.tsx';
import { formatCount } from '../ui/format.ts';
import { texts } from '../ui/texts.ts';
import { takesBatches } from './device-choice.ts';
import { asWritten, type Draft } from './draft.ts';
import type { Program } from './program.ts';
import type { useDevices } from './use-devices.ts';

const { newBatch: words } = texts;

interface Props {
  readonly draft: Draft;
  readonly program: Program | undefined;
  readonly devices: ReturnType<typeof useDevices>;
  readonly faults: readonly Fault[];
  readonly change: (part: Partial<Draft>) => void;
}

/** Where and how a batch is to run, and what it is called. */
export function SettingsPart({ draft, program, devices, faults, change }: Props) {
  const projectsCall = useCall<Project[]>('/api/v1/projects');
  const projects = projectsCall.answer?.data.filter(({ rights }) => rights.includes('submit'));
  const wanted = useAddress().query.get('project_id');
  useEffect(() => {
    const project = projects?.find(({ id }) => id === wanted) ?? projects?.[0];
    if (draft.project_id === '' && project !== undefined) change({ project_id: project.id });
  }, [projectsCall.answer]);
  const field = (name: keyof typeof words.fields) => ({ label: words.fields[name], place: ['body', name], faults });
  const input = (name: 'project_id' | 'webhook' | 'tags' | 'name') => ({
    value: draft[name],
    onInput: (event: { readonly currentTarget: { readonly value: string } }) =>
      change({ [name]: event.currentTarget.value }),
  });
  const project = projects?.find(({ id }) => id === draft.project_id);
  const projectHint =
    projects?.length === 0
      ? projectsCall.answer?.data.length === 0
        ? words.noProject
        : words.noSubmission
      : project?.name === project?.id
        ? undefined
        : project?.name;
  return (
    <section class="card" aria-labelledby="settings-title">
      <div class="bar">
        <h2 id="settings-title">{words.settings}</h2>
      </div>
      <Failure failure={devices.failure} retry={devices.reload} />
      <Failure failure={projectsCall.failure} retry={projectsCall.reload} />
      <div class="form">
        <DeviceField draft={draft} program={program} devices={devices} faults={faults} change={change} />
        <Field {...field('project_id')} hint={projectHint ?? undefined}>
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
        <Field {...field('name')} hint={words.nameHint}>
          <input dir="auto" {...input('name')} />
        </Field>
        <Field {...field('tags')} hint={words.tagsHint}>
          <input dir="auto" {...input('tags')} />
        </Field>
        <Field {...field('webhook')} hint={words.webhookHint}>
          <input type="url" placeholder="https://" {...input('webhook')} />
        </Field>
        <label class="full">
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

/** Announced devices, and the program's own as it is written where that is another one. */
function DeviceField({ draft, program, devices, faults, change }: Props) {
  const { all, fitting, chosen, hasOwn } = devices;
  const taking = all.filter(takesBatches);
  const ownName = program?.deviceName;
  const value = chosen?.device_type ?? draft.device_type;
  const select = (device_type: string) => change({ device_type });
  const optionOf = (device_type: string, queue: number | null) =>
    `${device_type}, ${words.ahead(queue === null ? texts.devices.longQueue : formatCount(queue))}`;
  return (
    <Field
      label={words.fields.device_type}
      place={['body', 'device_type']}
      faults={faults}
      hint={hintOf(devices, program)}
    >
      <select value={value} onChange={(event) => select(event.currentTarget.value)}>
        {chosen === undefined && draft.device_type !== asWritten && <option value="">{words.chooseDevice}</option>}
        {taking.map(({ device_type, queue_length }) => (
          <option key={device_type} value={device_type}>
            {optionOf(device_type, queue_length)}
            {program?.isPulser === true &&
              !fitting.some((each) => each.device_type === device_type) &&
              `, ${words.unfit}`}
          </option>
        ))}
        {ownName !== undefined && !hasOwn && <option value={asWritten}>{words.ownDevice(cut(ownName))}</option>}
      </select>
    </Field>
  );
}

/** What an option of a choice can show. */
const maxNameCharacters = 40;

function cut(name: string): string {
  return name.length > maxNameCharacters ? `${name.slice(0, maxNameCharacters)}…` : name;
}

/** Why the device is chosen, or why it may not start soon. */
function hintOf({ chosen, fitting, all }: Props['devices'], program: Program | undefined): string | undefined {
  if (chosen === undefined) {
    return program?.isPulser === true && all.length > 0 && fitting.length === 0 ? words.noDevice : undefined;
  }
  const { availability, status_message, max_atom_num } = chosen;
  if (availability !== 'ACTIVE') return `${words.inactive} ${status_message ?? ''}`;
  if (!fitting.includes(chosen) || program === undefined) return undefined;
  const atoms = max_atom_num === null ? undefined : words.atomsAtMost(formatCount(max_atom_num));
  const fits = program.deviceName === undefined ? undefined : words.fits(cut(program.deviceName));
  return [fits, atoms].filter((part) => part !== undefined).join(', ') || undefined;
}
