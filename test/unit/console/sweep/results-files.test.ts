import { describe, expect, it } from 'vitest';
import { csvOfJobs, jsonOfJobs } from '../../../../functions/console/sweep/results-files.ts';

const done = {
  id: 'a',
  calibration: 7,
  creation_order: 0,
  status: 'DONE',
  runs: 3,
  variables: { omega: 3.4000000000000004 },
};
const failed = {
  id: 'b',
  calibration: null,
  creation_order: 1,
  status: 'ERROR',
  runs: null,
  variables: { omega: -1e-7 },
};
const counts = new Map([
  [
    'a',
    [
      { bits: '01', count: 2 },
      { bits: '10', count: 1 },
    ],
  ],
]);

describe('csvOfJobs', () => {
  it('has a row for each job and outcome, and one for a job without counts', () => {
    expect(csvOfJobs([done, failed], counts)).toBe(
      [
        '"job_id","number","status","runs","omega","bitstring","count","calibration"',
        '"a",1,"DONE",3,3.4000000000000004,"01",2,7',
        '"a",1,"DONE",3,3.4000000000000004,"10",1,7',
        '"b",2,"ERROR",,-1e-7,,,',
        '',
      ].join('\r\n'),
    );
  });

  it('quotes texts, and guards those that a spreadsheet would compute', () => {
    const variables = { '=cmd': 'x', '@a"b': 1, '+c': [1, 2], '\tt': 1, '-d': 1 };
    const [head, row] = csvOfJobs([{ ...done, variables }], new Map([['a', [{ bits: '=1+1', count: 1 }]]])).split(
      '\r\n',
    );
    expect(head).toBe(
      `"job_id","number","status","runs","'=cmd","'@a""b","'+c[0]","'+c[1]","'\tt","'-d","bitstring","count","calibration"`,
    );
    expect(row).toBe('"a",1,"DONE",3,"""x""",1,1,2,1,1,"\'=1+1",1,7');
  });
});

describe('jsonOfJobs', () => {
  it('has each job with its counts', () => {
    expect(JSON.parse(jsonOfJobs([done, failed], counts))).toEqual([
      {
        job_id: 'a',
        number: 1,
        variables: done.variables,
        runs: 3,
        calibration: 7,
        status: 'DONE',
        counts: { '01': 2, '10': 1 },
      },
      {
        job_id: 'b',
        number: 2,
        variables: failed.variables,
        runs: null,
        calibration: null,
        status: 'ERROR',
        counts: null,
      },
    ]);
  });
});
