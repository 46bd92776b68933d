/** Judges the sequences of a call before their jobs wait in a queue. */

import type { InputFault } from '../../errors.ts';
import type { Specification } from '../../pulser/sequence-content.ts';
import type { JobRequest } from '../../schemas/batch-request.ts';
import { type Fault, maxFaultsCounted, printable } from '../../schemas/faults.ts';
import type { SequenceFacts } from '../../schemas/sequence.ts';
import { leftToDevice, leftToValues } from '../../sequences/left-to-device.ts';
import { type JudgedSequence, judgeJobs, judgeSequence, runsFaults } from '../../sequences/sequence-faults.ts';
import { loadSchemas, readForm, readSpecification } from '../../sequences/sequence-form.ts';

interface CheckedCall {
  /** The batch's sequence, from the call or as it is stored. */
  readonly sequence: SequenceFacts | null;
  /** Where the call's sequence is in the body; absent where it was judged when it was stored. */
  readonly place?: InputFault['loc'];
  readonly jobs: readonly JobRequest[];
  readonly jobsPlace: InputFault['loc'];
  readonly device: CheckedDevice;
}

/** The device of a batch. */
interface CheckedDevice {
  /** Empty where a fault says that there is none. */
  readonly device_type: string;
  readonly isAnnounced: boolean;
  readonly specs?: string | undefined;
}

/** What was not looked at, and where. */
type Unchecked = Pick<InputFault, 'loc' | 'msg'>;

interface CheckedSequences {
  readonly faults: readonly InputFault[];
  /** What the device alone judges: a few entries, each kind once. */
  readonly leftToDevice: readonly Unchecked[];
}

/** Entries that say what was not looked at. */
const maxLeft = 10;

/** A message may quote names of any length. */
const maxMessageCharacters = 300;

/**
 * The faults that the call's device would find, each at its place in the body, and from there in
 * the JSON of a sequence; and what this does not look at. Takes time in proportion to the body, and
 * parses the specification.
 */
export async function checkSequences(checked: CheckedCall): Promise<CheckedSequences> {
  await loadSchemas();
  const { sequence, place, jobs, jobsPlace, device } = checked;
  const announced = device.specs === undefined ? undefined : readSpecification(device.specs);
  const judge = judgeEach(announced);
  const found: InputFault[] = [];
  const add = (loc: InputFault['loc'], faults: readonly Fault[]) => {
    for (const fault of faults.slice(0, maxFaultsCounted - found.length)) found.push(inputFault(loc, fault));
  };
  const left = new Map<string, Unchecked>();
  const leave = (loc: InputFault['loc'], ...msgs: readonly string[]) => {
    for (const msg of msgs) if (!left.has(msg)) left.set(msg, { loc, msg: readable(msg) });
  };
  leave(place === undefined ? ['body'] : ['body', 'device_type'], ...deviceLeft(device, announced));
  if (sequence !== null && place !== undefined) add(place, judge(sequence).faults);
  const common = sequence && (place === undefined ? readForm(sequence.content()) : judge(sequence));
  if (common !== null) {
    leave(place ?? ['body'], ...leftToDevice(common));
    if (jobs.every((job) => job.sequence !== null)) leave(place ?? ['body'], ...leftToValues(common));
  }
  const judgeJob = common?.content && judgeJobs(common.content, announced);
  for (const [at, job] of jobs.entries()) {
    if (found.length >= maxFaultsCounted) break;
    const loc = [...jobsPlace, at];
    if (job.sequence !== null) {
      const judged = judge(job.sequence);
      add([...loc, 'sequence'], judged.faults);
      leave([...loc, 'sequence'], ...leftToDevice(judged));
      if (judged.content !== undefined) add(loc, judgeJobs(judged.content, announced)({ variables: null }).faults);
    } else if (judgeJob !== undefined) {
      const { faults, isUncertain, isPassedOver } = judgeJob(job);
      add(loc, faults);
      if (isUncertain) leave(loc, uncertainLeft);
      if (isPassedOver) leave(loc, passedOverLeft);
    }
    add(loc, runsFaults(job.runs, announced));
  }
  return { faults: found, leftToDevice: [...left.values()].slice(0, maxLeft) };
}

function deviceLeft({ device_type, isAnnounced }: CheckedDevice, announced: Specification | undefined): string[] {
  if (device_type === '' || announced !== undefined) return [];
  const why = isAnnounced
    ? 'it has announced no specification that the check can read'
    : 'no device of this type has been announced';
  return [`What ${device_type} allows: ${why}.`];
}

const uncertainLeft =
  "Numbers that follow from this job's values: the check cannot compute all of them exactly. Later jobs may have such numbers, too.";

const passedOverLeft =
  'The values of this job and of later ones: the check looks at a limited number of operations in a call.';

/** Judges each sequence; the same text once. */
function judgeEach(announced: Specification | undefined) {
  const judged = new Map<string, JudgedSequence>();
  return (sequence: SequenceFacts): JudgedSequence => {
    const text = 'text' in sequence ? String(sequence.text) : '';
    const known = judged.get(text) ?? judgeSequence(sequence.content(), announced);
    if (text !== '') judged.set(text, known);
    return known;
  };
}

function inputFault(loc: InputFault['loc'], { path, message, type }: Fault): InputFault {
  const names = path.map((part) => (typeof part === 'string' ? printable(part) : part));
  return { loc: [...loc, ...names], msg: readable(message), type };
}

function readable(message: string): string {
  return message.slice(0, maxMessageCharacters).toWellFormed();
}
