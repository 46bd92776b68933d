import { describe, expect, it } from 'vitest';
import { recursiveFunctions } from '../../infra/stack/recursion.ts';
import { contexts } from '../support/contexts.ts';
import { synthesize } from '../support/synthesize.ts';

const sendsTo = (...queues: string[]) => ({
  uses: Object.fromEntries(queues.map((queue) => [queue, ['SendMessage']])),
});
const feeds = (name: string) => ({ consumer: { function: name } });

describe('recursiveFunctions', () => {
  it('are those that a chain of queues leads back to, and no others', () => {
    const functions = {
      itself: sendsTo('Own'),
      first: sendsTo('Second'),
      second: sendsTo('Third'),
      third: sendsTo('First', 'Own'),
      before: sendsTo('First'),
      after: sendsTo('first/dead_letters'),
      named: { uses: { Named: [] } },
    };
    const queues = {
      ...{ Own: feeds('itself'), First: feeds('first'), Second: feeds('second'), Third: feeds('third') },
      ...{ Before: feeds('before'), After: feeds('after'), Named: feeds('named') },
    };
    expect([...recursiveFunctions(functions, queues)]).toEqual(['itself', 'first', 'second', 'third']);
  });
});

describe.each(Object.entries(contexts))('the template, %s', (_, context) => {
  it('allows recursion to the functions that send to their own queues, and to no other', async () => {
    const functions = (await synthesize(context)).ofType('AWS::Lambda::Function');
    const recursive = functions.filter(({ properties }) => properties.RecursiveLoop !== undefined);
    expect(recursive.map(({ path, properties }) => [path, properties.RecursiveLoop]).sort()).toEqual([
      ['Consumers/DeliverWebhooks', 'Allow'],
      ['Consumers/RecoverBatches', 'Allow'],
    ]);
  });
});
