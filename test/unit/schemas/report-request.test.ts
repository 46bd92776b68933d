import { describe, expect, it } from 'vitest';
import { inputFaults } from '../../../functions/schemas/input-faults.ts';
import { maxReportedBytes, ReportRequest } from '../../../functions/schemas/lease.ts';

const faultsOf = (report: object) => {
  const { error } = ReportRequest.safeParse({ status: 'DONE', ...report });
  return error === undefined ? [] : inputFaults('body', error).map(({ loc, type }) => [...loc, type]);
};

/** The text of an object of this many bytes, whose characters take as many each. */
const documentOf = (bytes: number, character: string) => {
  const size = Buffer.byteLength(character);
  return `{"a":"${character.repeat((bytes - 8) / size)}"}${' '.repeat((bytes - 8) % size)}`;
};

describe('ReportRequest', () => {
  it('has no results by default', () => {
    expect(ReportRequest.parse({ status: 'DONE' })).toMatchObject({ results: false, results_document: null });
  });

  it.each(['a', 'é', '€', '😀'])('takes the text of an object of 1 MB of %s, and not a byte more', (character) => {
    const largest = documentOf(maxReportedBytes, character);
    expect(Buffer.byteLength(largest)).toBe(1_048_576);
    expect(ReportRequest.parse({ status: 'DONE', results_document: largest }).results_document === largest).toBe(true);
    expect(faultsOf({ results_document: `${largest} ` })).toEqual([['body', 'results_document', 'bytes_too_long']]);
  });

  it.each(['[]', '"{}"', '1', 'true', ' [{}]'])('refuses %s as a document', (results_document) => {
    expect(faultsOf({ results_document })).toEqual([['body', 'results_document', 'dict_type']]);
  });

  it('refuses a document beside the flag of an upload, and takes either alone', () => {
    const results_document = '{}';
    expect(faultsOf({ results_document, results: true })).toEqual([['body', 'results_document', 'value_error']]);
    for (const one of [
      { results_document, results: false },
      { results_document: null, results: true },
    ]) {
      expect(faultsOf(one)).toEqual([]);
    }
  });

  it('names a document of another type once, and all other faults with it', () => {
    expect(faultsOf({ status: 'GONE', results_document: '[]', results: 1 })).toEqual([
      ['body', 'status', 'enum'],
      ['body', 'results_document', 'dict_type'],
      ['body', 'results', 'bool_type'],
    ]);
  });
});
