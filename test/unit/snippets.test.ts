import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { curlSample, fetchSample, requestsSample } from '../../functions/endpoints/docs/page/snippets.mjs';

const request = {
  method: 'POST',
  address: "https://api.example.org/it's?tag=a&tag=b",
  needsToken: true,
  headers: { 'idempotency-key': `it's "one" \\ $HOME` },
  body: { tags: ["it's"], open: false, webhook: null },
};

const headers = {
  Authorization: 'Bearer t',
  'idempotency-key': request.headers['idempotency-key'],
};

describe('the snippets of a request', () => {
  it('give curl its address, headers and body, whatever they contain', () => {
    const script = `TOKEN=t; curl() { printf '%s\\0' "$@"; }\n${curlSample(request)}`;
    const [address, ...rest] = execFileSync('bash', ['-c', script], { encoding: 'utf8' }).split('\0');
    expect(address).toBe(request.address);
    const sent = rest.filter((_, at) => rest[at - 1] === '-H');
    expect(sent).toEqual([
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      'Content-Type: application/json',
    ]);
    expect(JSON.parse(rest[rest.indexOf('-d') + 1]!)).toEqual(request.body);
  });

  it('give fetch the same', async () => {
    let given: unknown[] = [];
    const fetch = async (...options: unknown[]) => {
      given = options;
      return new Response('{}');
    };
    const AsyncFunction = (async () => undefined).constructor as FunctionConstructor;
    const run = AsyncFunction('fetch', 'process', 'console', fetchSample(request));
    await run(fetch, { env: { TOKEN: 't' } }, { log: () => undefined });
    const sent = { ...headers, 'Content-Type': 'application/json' };
    expect(given).toEqual([request.address, { method: 'POST', headers: sent, body: JSON.stringify(request.body) }]);
  });

  it('give requests the same', () => {
    const program = requestsSample(request)
      .replace('import requests', 'import json, types; from unittest.mock import MagicMock; requests = MagicMock()')
      .replace('print(response.json())', 'call = requests.post.call_args; print(json.dumps([call.args, call.kwargs]))');
    const output = execFileSync('python3', ['-c', program], {
      encoding: 'utf8',
      env: { TOKEN: 't', PATH: process.env.PATH },
    });
    expect(JSON.parse(output)).toEqual([[request.address], { headers, json: request.body, timeout: 30 }]);
  });
});
