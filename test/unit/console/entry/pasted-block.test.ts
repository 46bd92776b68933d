import { describe, expect, it } from 'vitest';
import { shotsColumn } from '../../../../functions/console/entry/cell-values.ts';
import { headBlock, readBlock, type TableColumn, withBlock } from '../../../../functions/console/entry/pasted-block.ts';

const column = (name: string, size = 1): TableColumn => ({
  name,
  label: name,
  variable: { name, type: 'float', size },
});
const runs: TableColumn = { name: shotsColumn, label: 'Shots', variable: undefined };
const columns = [column('omega'), column('t'), column('times', 2), runs];
const row = { id: 1, runs: '100', values: { omega: '1', t: '2', times: '[3, 4]' } };

/** The texts of the rows that a pasted text makes, from a row and a column on. */
function paste(text: string, { at = 0, from = 0, rows = [row], max = 100 } = {}) {
  const block = readBlock(text);
  const made = withBlock(rows, block, headBlock(block, columns, from), at, max);
  return made.map((each) => [each.values.omega, each.values.t, each.values.times, each.runs]);
}

describe('a block of cells', () => {
  it.each([
    ['tabs', '1\t2\n3\t4\n'],
    ['semicolons', '1;2\r\n3;4'],
    ['commas', '1, 2\n\n3, 4'],
  ])('is separated by %s', (_, text) => {
    expect(readBlock(text).cells).toEqual([
      ['1', '2'],
      ['3', '4'],
    ]);
  });

  it('may have quotes, with what else would separate', () => {
    expect(readBlock('"[1, 2]",3\n"say ""a""\nb",').cells).toEqual([
      ['[1, 2]', '3'],
      ['say "a"\nb', ''],
    ]);
  });

  it('is empty without a text', () => {
    expect(readBlock(' \n\n').cells).toEqual([]);
  });
});

describe('pasted', () => {
  it('goes over the cells from a place on, and adds rows', () => {
    expect(paste('5\t6\n7\t8', { from: 1 })).toEqual([
      ['1', '5', '6', '100'],
      ['1', '7', '8', '100'],
    ]);
    expect(paste('9', { at: 1, rows: [row, { ...row, id: 2 }] })).toEqual([
      ['1', '2', '[3, 4]', '100'],
      ['9', '2', '[3, 4]', '100'],
    ]);
  });

  it('finds its columns by names, in any order', () => {
    expect(paste('Shots\tomega\tnote\n50\t0.5\tx')).toEqual([['0.5', '2', '[3, 4]', '50']]);
    expect(headBlock(readBlock('omega\tnote\n1\tx'), columns).unknown).toEqual(['note']);
  });

  it('has decimal commas only where commas do not separate, and only in numbers', () => {
    expect(paste('0,5;1,5e3;1,2;20')).toEqual([['0.5', '1.5e3', '1,2', '20']]);
    expect(paste('0,5')).toEqual([['0', '5', '[3, 4]', '100']]);
  });

  it('leaves out columns and rows beyond the table', () => {
    expect(paste('1\t2\t3\t4\t5')).toEqual([['1', '2', '3', '4']]);
    expect(paste('1\n2\n3', { max: 2 })).toHaveLength(2);
  });

  it('gives each row its own id', () => {
    const block = readBlock('1\n2\n3');
    const made = withBlock([{ ...row, id: 5 }], block, headBlock(block, columns), 0, 100);
    expect(new Set(made.map(({ id }) => id)).size).toBe(3);
  });
});
