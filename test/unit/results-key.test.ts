import { describe, expect, it } from 'vitest';
import { isResultsKeyOf, userResultsPrefix } from '../../functions/results-key.ts';

describe('isResultsKeyOf', () => {
  it('takes a key below the user’s own prefix', () => {
    expect(userResultsPrefix('auth0|ada')).toBe('results/auth0|ada/');
    expect(isResultsKeyOf('auth0|ada', 'results/auth0|ada/1.json')).toBe(true);
  });

  it.each([
    'results/auth0|ada/',
    'results/auth0|ada',
    'results/auth0|adam/1.json',
    'results/1.json',
    'secret.json',
    '',
  ])('refuses "%s"', (key) => {
    expect(isResultsKeyOf('auth0|ada', key)).toBe(false);
  });
});
