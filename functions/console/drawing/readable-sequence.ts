/**
 * What a text in Pulser's abstract representation says. The service stores sequences whose form it
 * does not know, too: members of another form are left out.
 */

import type { SequenceContent } from '../../pulser/sequence-content.ts';
import { isObject, type JsonObject, readObject } from '../ui/json-object.ts';

type Checked = 'name' | 'register' | 'layout' | 'channels' | 'variables' | 'slm_mask_targets';

export interface ReadableSequence extends Partial<Pick<SequenceContent, Checked>> {
  readonly device?: string | JsonObject;
  readonly operations?: readonly JsonObject[];
}

const isString = (value: unknown) => typeof value === 'string';
const isNumber = (value: unknown) => typeof value === 'number';
const isList = (of: (value: unknown) => boolean) => (value: unknown) => Array.isArray(value) && value.every(of);
const isRecord = (of: (value: unknown) => boolean) => (value: unknown) =>
  isObject(value) && Object.values(value).every(of);

const forms: Readonly<Record<keyof ReadableSequence, (value: unknown) => boolean>> = {
  name: isString,
  device: (value) => isString(value) || isObject(value),
  register: isList((value) => isObject(value) && isString(value.qid ?? value.name)),
  layout: (value) => isObject(value) && isList(isList(isNumber))(value.coordinates),
  channels: isRecord(isString),
  variables: isRecord((value) => isObject(value) && (value.value === undefined || isList(isNumber)(value.value))),
  operations: isList(isObject),
  slm_mask_targets: (value) => value !== undefined,
};

/** Undefined where the text holds no object. Terms and waveforms are read where they are drawn. */
export function readSequence(text: string): ReadableSequence | undefined {
  const members = readObject(text);
  if (members === undefined) return undefined;
  return Object.fromEntries(
    Object.entries(forms).flatMap(([name, hasForm]) => (hasForm(members[name]) ? [[name, members[name]]] : [])),
  );
}
