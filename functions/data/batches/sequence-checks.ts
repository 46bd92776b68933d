/** Judges the sequences of a call before their jobs wait in a queue. */

import type { InputFault } from '../../errors.ts';
import type { Specification } from '../../pulser/sequence-content.ts';
import type { JobRequest } from '../../schemas/batch-request.ts';
import { type Fault, maxFaultsCounted, printable } from '../../schemas/faults.ts';
import type { SequenceFacts } from '../../schemas/sequence.ts';
import { type JudgedSequence, judgeJobs, judgeSequence, runsFaults } from '../../sequences/sequence-faults.ts';
import { readForm, readSpecification } from '../../sequences/sequence-form.ts';

interface CheckedCall {
  /** The batch's sequence, from the call or as it is stored. */
  readonly sequence: SequenceFacts | null;
  /** Where the call's sequence is in the body; absent where it was judged when it was stored. */
  readonly place?: InputFault['loc'];
  readonly jobs: readonly JobRequest[];
  readonly jobsPlace: InputFault['loc'];
  /** What the device of the batch has announced. */
  readonly specs: string | undefined;
}

/** A message may quote names of any length. */
const maxMessageCharacters = 300;

/**
 * The faults that the call's device would find, each at its place in the body, and from there in
 * the JSON of a sequence. Takes time in proportion to the body, and parses the specification.
 */
export function findSequenceFaults({ sequence, place, jobs, jobsPlace, specs }: CheckedCall): InputFault[] {
  const announced = specs === undefined ? undefined : readSpecification(specs);
  const judge = judgeEach(announced);
  const found: InputFault[] = [];
  const add = (loc: InputFault['loc'], faults: readonly Fault[]) => {
    for (const fault of faults.slice(0, maxFaultsCounted - found.length)) found.push(inputFault(loc, fault));
  };
  if (sequence !== null && place !== undefined) add(place, judge(sequence).faults);
  const common = sequence && (place === undefined ? readForm(sequence.content()) : judge(sequence)).content;
  const judgeJob = common ? judgeJobs(common, announced) : undefined;
  for (const [at, job] of jobs.entries()) {
    if (found.length >= maxFaultsCounted) break;
    const loc = [...jobsPlace, at];
    if (job.sequence !== null) {
      const { faults, content } = judge(job.sequence);
      add([...loc, 'sequence'], faults);
      if (content !== undefined) add(loc, judgeJobs(content, announced)({ variables: null }).faults);
    } else if (judgeJob !== undefined) add(loc, judgeJob(job).faults);
    add(loc, runsFaults(job.runs, announced));
  }
  return found;
}

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
  return { loc: [...loc, ...names], msg: message.slice(0, maxMessageCharacters).toWellFormed(), type };
}
