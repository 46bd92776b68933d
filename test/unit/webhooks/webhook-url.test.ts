import { describe, expect, it } from 'vitest';
import { readWebhook, type WebhookReach } from '../../../functions/webhooks/webhook-url.ts';

const read = (webhook: string, reach: WebhookReach) => {
  const target = readWebhook(webhook, reach);
  return 'url' in target ? target.url.href : target.refusal;
};

describe('readWebhook, of a public stack', () => {
  it.each([
    ['https://example.org', 'https://example.org/'],
    ['https://example.org:443/hooks/a?b=c#d', 'https://example.org/hooks/a?b=c#d'],
    ['HTTPS://Example.ORG/', 'https://example.org/'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
    ['https://a.b.c.example.org./x', 'https://a.b.c.example.org./x'],
  ])('delivers to %s', (webhook, url) => {
    expect(read(webhook, 'public')).toBe(url);
  });

  it.each([
    ['', 'not a URL'],
    ['notify me', 'not a URL'],
    ['https://', 'not a URL'],
    ['https://999.1.1.1/', 'not a URL'],
    ['http://example.org/', 'https only'],
    ['ftp://example.org/', 'https only'],
    ['file:///etc/passwd', 'https only'],
    ['javascript:alert(1)', 'https only'],
    ['https://user@example.org/', 'a user or a password'],
    ['https://:secret@example.org/', 'a user or a password'],
    ['https://example.org:8443/', 'port 443 only'],
    ['https://example.org:80/', 'port 443 only'],
    ['https://8.8.8.8/', 'not an address'],
    ['https://127.0.0.1/', 'not an address'],
    ['https://127.0.0.1./', 'not an address'],
    ['https://0x7f.1/', 'not an address'],
    ['https://2130706433/', 'not an address'],
    ['https://017700000001/', 'not an address'],
    ['https://①②⑦.0.0.1/', 'not an address'],
    ['https://[::1]/', 'not an address'],
    ['https://[2606:4700:4700::1111]/', 'not an address'],
    ['https://hook/', 'full domain name'],
    ['https://localhost/', 'full domain name'],
    ['https://localhost./', 'full domain name'],
  ])('refuses %s', (webhook, reason) => {
    expect(read(webhook, 'public')).toContain(reason);
  });
});

describe('readWebhook, of a stack that reaches its own machine', () => {
  it.each(['http://127.0.0.1:8080/x', 'https://127.0.0.1/', 'http://127.1:9/'])('delivers to %s', (webhook) => {
    expect(new URL(read(webhook, 'loopback')).hostname).toBe('127.0.0.1');
  });

  it.each([
    'http://localhost:8080/',
    'http://127.0.0.2/',
    'http://[::1]:8080/',
    'http://user@127.0.0.1/',
    'http://127.0.0.1.example.org/',
    'https://example.org/',
    'ftp://127.0.0.1/',
  ])('refuses %s', (webhook) => {
    expect(read(webhook, 'loopback')).toBe('This stack delivers webhooks to http://127.0.0.1 only.');
  });
});

describe('readWebhook, of a stack that reaches nobody', () => {
  it('refuses everything', () => {
    expect(read('https://example.org/', 'off')).toBe('This stack delivers no webhooks.');
    expect(read('http://127.0.0.1/', 'off')).toBe('This stack delivers no webhooks.');
  });
});
