import { describe, expect, it } from 'vitest';
import { registerPicture } from '../../functions/endpoints/service/register-picture.ts';

describe('the register of the first page', () => {
  const atoms = [...registerPicture.matchAll(/class="(one|ground)" cx="(\d+)" cy="(\d+)"/g)].map(([, state, x, y]) => ({
    isExcited: state === 'one',
    place: `${x} ${y}`,
    x: Number(x),
    y: Number(y),
  }));
  const excited = new Set(atoms.filter(({ isExcited }) => isExcited).map(({ place }) => place));

  it('has two domains, in which neighbors are never both excited', () => {
    expect([atoms.length, new Set(atoms.map(({ place }) => place)).size]).toEqual([81, 81]);
    const sublattices = new Set(
      [...excited].map((place) => place.split(' ').reduce((sum, each) => sum + Number(each) / 52, 0) % 2),
    );
    expect(sublattices).toEqual(new Set([0, 1]));
    for (const { isExcited, x, y } of atoms) {
      if (!isExcited) continue;
      expect([`${x + 52} ${y}`, `${x} ${y + 52}`].filter((place) => excited.has(place))).toEqual([]);
    }
  });
});
