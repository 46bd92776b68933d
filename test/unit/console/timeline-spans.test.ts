import { describe, expect, it } from 'vitest';
import { spansOf } from '../../../functions/console/parts/timeline-spans.ts';

const at = (seconds: number) => new Date(Date.UTC(2026, 10, 23, 15) + seconds * 1_000).toISOString();
const created = at(0);
const now = Date.UTC(2026, 10, 23, 15) + 100_000;

describe('spans of a timeline', () => {
  it('are in proportion', () => {
    const spans = spansOf({ created, started: at(30), ended: at(40) }, now);
    expect(spans).toEqual([
      { kind: 'queued', from: 0, share: 0.75, seconds: 30, isOpen: false },
      { kind: 'ran', from: 0.75, share: 0.25, seconds: 10, isOpen: false },
    ]);
  });

  it('are open while it waits and while it runs', () => {
    expect(spansOf({ created, started: null, ended: null }, now)).toEqual([
      { kind: 'queued', from: 0, share: 1, seconds: 100, isOpen: true },
    ]);
    const [queued, ran] = spansOf({ created, started: at(60), ended: null }, now);
    expect([queued!.isOpen, ran!.isOpen, ran!.seconds]).toEqual([false, true, 40]);
  });

  it('are of waiting alone where it never ran', () => {
    expect(spansOf({ created, started: null, ended: at(7) }, now)).toEqual([
      { kind: 'queued', from: 0, share: 1, seconds: 7, isOpen: false },
    ]);
  });

  it('show the shortest part, and what took no time at all', () => {
    expect(spansOf({ created, started: at(0.001), ended: at(90_000) }, now)[0]!.share).toBe(0.01);
    expect(spansOf({ created, started: created, ended: created }, now).map(({ share }) => share)).toEqual([0.5, 0.5]);
  });

  it('last no less than 0 s where a clock is behind', () => {
    const spans = spansOf({ created, started: at(-5), ended: at(-3) }, now);
    expect(spans.map(({ seconds }) => seconds)).toEqual([0, 0]);
  });
});
