import { describe, expect, it } from 'vitest';
import { isResultsKeyOf, userResultsPrefix } from '../../../functions/values/results-key.ts';

const user = 'auth0|ada';

describe('isResultsKeyOf', () => {
  it('begins keys with the user’s own prefix', () => {
    expect(userResultsPrefix(user)).toBe('results/auth0|ada/');
  });

  it('takes any tail that stays below it', () => {
    const tails = [
      '1.json',
      'runs/2026/1.json',
      '.hidden',
      '...',
      'a..b',
      'a b/ü?#&+.json',
      '100%',
      '%zz',
      '5%e',
      'k'.repeat(1_024 - 18),
      'é'.repeat(503),
    ];
    expect(tails.filter((tail) => !isResultsKeyOf(user, `results/auth0|ada/${tail}`))).toEqual([]);
  });

  it('judges only what follows the prefix', () => {
    expect(isResultsKeyOf('https://issuer/%41/..', 'results/https://issuer/%41/../1.json')).toBe(true);
  });

  it('refuses tails that could leave it', () => {
    const tails = [
      '',
      '/',
      '/a',
      'a/',
      'a//b',
      '.',
      '..',
      '../auth0|bob/1.json',
      'a/../../auth0|bob/1.json',
      './1.json',
      '%2e%2e/auth0|bob/1.json',
      '%2E%2E%2fauth0|bob',
      '%2f1.json',
      'a%00b',
      '..\\auth0|bob\\1.json',
      'a\u0000b',
      'a\nb',
      'a\u007fb',
      'a\u0085b',
      'a\ud800b',
      'k'.repeat(1_024 - 17),
      'é'.repeat(504),
    ];
    expect(tails.filter((tail) => isResultsKeyOf(user, `results/auth0|ada/${tail}`))).toEqual([]);
  });

  it.each(['results/auth0|ada', 'results/auth0|adam/1.json', 'results/1.json', 'results//1.json', 'secret.json', ''])(
    'refuses "%s" as not below it',
    (key) => {
      expect(isResultsKeyOf(user, key)).toBe(false);
    },
  );
});
