import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inputFaults } from '../../../functions/schemas/input-faults.ts';
import { QuizSubmissions } from '../../../functions/schemas/quiz.ts';

function faultsOf(text: string | undefined) {
  const { error } = QuizSubmissions.safeParse(text);
  return error === undefined ? [] : inputFaults('body', error).map(({ loc, type }) => ({ loc, type }));
}

const dataOf = (bytes: number) => `{"a":"${'x'.repeat(bytes - 8)}"}`;
const nested = (depth: number) => `${'{"a":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}`;

describe('QuizSubmissions', () => {
  it('reads submissions in the order of the body, whatever their keys look like', () => {
    const body = '{"data":{"2":{"a":1},"1":[{"b":2},{}],"z":[],"10":{"c":[]}}}';
    expect(QuizSubmissions.parse(body)).toEqual([
      { cms_quiz_id: '2', position: 0, data: '{"a":1}' },
      { cms_quiz_id: '1', position: 0, data: '{"b":2}' },
      { cms_quiz_id: '1', position: 1, data: '{}' },
      { cms_quiz_id: '10', position: 0, data: '{"c":[]}' },
    ]);
  });

  it('keeps the text of each submission', () => {
    const data = '{ "2":1.50,"1":12345678901234567890 ,"__proto__" : {"x":1e400},"e":"\\u00e9\\ud800", "e" : "é" }';
    expect(QuizSubmissions.parse(`{"data":{"q": ${data} }}`)).toEqual([{ cms_quiz_id: 'q', position: 0, data }]);
  });

  it('takes prototype names as quiz ids', () => {
    const ids = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
    const body = `{"data":{${ids.map((id) => `"${id}":{}`)}}}`;
    expect(QuizSubmissions.parse(body).map((submission) => submission.cms_quiz_id)).toEqual(ids);
  });

  it('reads an empty object as no submissions', () => {
    expect(QuizSubmissions.parse('{"data":{}}')).toEqual([]);
    expect(QuizSubmissions.parse(' {"data" : { } , "other": [1] } ')).toEqual([]);
  });

  it('reads the last of two members of one name, as JSON.parse does', () => {
    expect(QuizSubmissions.parse('{"data":5,"data":{"a":1,"a":{"b":2}}}')).toEqual([
      { cms_quiz_id: 'a', position: 0, data: '{"b":2}' },
    ]);
  });

  it.each([
    [undefined, ['body'], 'missing'],
    ['', ['body'], 'json_invalid'],
    ['  ', ['body'], 'json_invalid'],
    ['{', ['body'], 'json_invalid'],
    ["{'data':{}}", ['body'], 'json_invalid'],
    ['{"data":{},}', ['body'], 'json_invalid'],
    ['{"data":{"a":{"b":NaN}}}', ['body'], 'json_invalid'],
    ['{"data":{}} {}', ['body'], 'json_invalid'],
    ['null', ['body'], 'dict_type'],
    ['[]', ['body'], 'dict_type'],
    ['"data"', ['body'], 'dict_type'],
    ['{}', ['body', 'data'], 'missing'],
    ['{"Data":{}}', ['body', 'data'], 'missing'],
    ['{"__proto__":{"data":{}}}', ['body', 'data'], 'missing'],
    ['{"data":null}', ['body', 'data'], 'dict_type'],
    ['{"data":[]}', ['body', 'data'], 'dict_type'],
    ['{"data":"{}"}', ['body', 'data'], 'dict_type'],
    ['{"data":{"q":1}}', ['body', 'data', 'q'], 'dict_type'],
    ['{"data":{"q":null}}', ['body', 'data', 'q'], 'dict_type'],
    ['{"data":{"q":"{}"}}', ['body', 'data', 'q'], 'dict_type'],
    ['{"data":{"q":[{},[]]}}', ['body', 'data', 'q', 1], 'dict_type'],
    ['{"data":{"":{}}}', ['body', 'data', ''], 'string_too_short'],
    ['{"data":{"a\\ud800":{}}}', ['body', 'data', 'a\ufffd'], 'string_unicode'],
  ])('refuses %j', (text, loc, type) => {
    expect(faultsOf(text)).toEqual([{ loc, type }]);
  });

  it('reports every fault at once', () => {
    expect(faultsOf('{"data":{"a":1,"b":{},"":[{},2,3]}}')).toEqual([
      { loc: ['body', 'data', 'a'], type: 'dict_type' },
      { loc: ['body', 'data', ''], type: 'string_too_short' },
      { loc: ['body', 'data', '', 1], type: 'dict_type' },
      { loc: ['body', 'data', '', 2], type: 'dict_type' },
    ]);
  });

  it('takes quiz ids of up to 256 characters', () => {
    const longest = '𝄞'.repeat(256);
    expect(QuizSubmissions.parse(`{"data":{"${longest}":{}}}`)).toHaveLength(1);
    expect(faultsOf(`{"data":{"${longest}a":{}}}`)).toEqual([
      { loc: ['body', 'data', longest.slice(0, 256)], type: 'string_too_long' },
    ]);
  });

  it('takes up to 100 submissions, in however many arrays', () => {
    const array = (length: number) => `[${Array.from({ length }, () => '{}')}]`;
    expect(QuizSubmissions.parse(`{"data":{"a":${array(100)},"b":[]}}`)).toHaveLength(100);
    for (const data of [`{"a":${array(101)}}`, `{"a":${array(100)},"b":{}}`, `{"a":${array(50)},"b":${array(51)}}`]) {
      expect(faultsOf(`{"data":${data}}`)).toEqual([{ loc: ['body', 'data'], type: 'too_long' }]);
    }
  });

  it('takes up to 350 KB a submission', () => {
    const most = 350 * 1024;
    expect(QuizSubmissions.parse(`{"data":{"a":${dataOf(most)}}}`)).toHaveLength(1);
    expect(faultsOf(`{"data":{"a":${dataOf(most + 1)},"b":[{},${dataOf(most + 1)}]}}`)).toEqual([
      { loc: ['body', 'data', 'a'], type: 'bytes_too_long' },
      { loc: ['body', 'data', 'b', 1], type: 'bytes_too_long' },
    ]);
    expect(faultsOf(`{"data":{"a":{"a":"${'é'.repeat(most / 2)}"}}}`)).toHaveLength(1);
  });

  it('takes up to 100 levels of a submission', () => {
    expect(QuizSubmissions.parse(`{"data":{"a":${nested(100)}}}`)).toHaveLength(1);
    expect(faultsOf(`{"data":{"a":${nested(101)}}}`)).toEqual([{ loc: ['body', 'data', 'a'], type: 'too_deep' }]);
    expect(faultsOf(`{"data":{"a":{"b":${'['.repeat(100_000)}${']'.repeat(100_000)}}}}`)).toEqual([
      { loc: ['body', 'data', 'a'], type: 'too_deep' },
    ]);
  });

  it('reports at most 10,000 faults of a body, each in few words', () => {
    const bodies = [
      `{"data":{"a":[${Array.from({ length: 100_000 }, () => '1')}]}}`,
      `{"data":{${Array.from({ length: 100_000 }, (_, index) => `"${index}":1`)}}}`,
    ];
    for (const body of bodies) expect(faultsOf(body)).toHaveLength(10_000);
    expect(JSON.stringify(faultsOf(`{"data":{"${'k'.repeat(1_000_000)}":1}}`)).length).toBeLessThan(2000);
  });

  it('reads back any JSON object', () => {
    const quizId = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });
    const entries = fc.array(fc.tuple(quizId, fc.dictionary(fc.string(), fc.jsonValue())), { maxLength: 10 });
    fc.assert(
      fc.property(entries, (all) => {
        const body = `{"data":{${all.map(([id, data]) => `${JSON.stringify(id)}:${JSON.stringify(data)}`)}}}`;
        expect(QuizSubmissions.parse(body)).toEqual(
          [...new Map(all)].map(([id, data]) => ({ cms_quiz_id: id, position: 0, data: JSON.stringify(data) })),
        );
      }),
    );
  });
});
