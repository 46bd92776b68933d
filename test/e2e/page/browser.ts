/**
 * A headless Chromium, spoken to by the DevTools protocol: the little of it that the test of a page
 * needs.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Page {
  /**
   * Opens an address and waits until the condition holds, an expression of JavaScript. Throws after
   * 20 s.
   */
  open(address: string, condition: string): Promise<void>;
  /** The value of an expression of JavaScript, awaited; JSON only. */
  evaluate<Value>(expression: string): Promise<Value>;
  /** Waits until the condition holds. Throws after 20 s. */
  waitFor(condition: string): Promise<void>;
  /** Clicks the first element that the selector finds. */
  click(selector: string): Promise<void>;
  /** Types into the first element that the selector finds. */
  type(selector: string, text: string): Promise<void>;
  /** Presses a key where the focus is. */
  press(key: 'Tab' | 'Enter'): Promise<void>;
  /** The size of the window, in CSS pixels. */
  resize(width: number, height: number): Promise<void>;
  /** What the system prefers. */
  prefer(scheme: 'light' | 'dark'): Promise<void>;
  /** A picture of the window, as PNG. */
  screenshot(): Promise<Buffer>;
  /**
   * What went wrong since the browser was started: errors of the console, exceptions, what the
   * Content-Security-Policy refused.
   */
  readonly errors: readonly string[];
  /** Addresses that were asked for since then, and the bytes that came over the wire. */
  readonly requested: readonly string[];
  receivedBytes(): number;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  // biome-ignore lint/suspicious/noExplicitAny: the shapes are the protocol's, by method.
  readonly params?: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  readonly result?: any;
  readonly error?: { readonly message: string };
}

/** Starts the browser, does the work with an empty page, and ends it. */
export async function withPage<Result>(program: string, work: (page: Page) => Promise<Result>): Promise<Result> {
  const profile = mkdtempSync(join(tmpdir(), 'chromium-'));
  const browser = spawn(
    program,
    // The sandbox needs rights that containers do not have. The page is our own.
    [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--remote-debugging-port=0',
      `--user-data-dir=${profile}`,
      'about:blank',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let socket: WebSocket | undefined;
  try {
    socket = new WebSocket(await devToolsAddress(browser.stderr));
    await once(socket, 'open');
    return await work(await attach(socket));
  } finally {
    socket?.close();
    browser.stderr.destroy();
    if (browser.exitCode === null && browser.kill()) await once(browser, 'exit');
    rmSync(profile, { recursive: true, maxRetries: 10 });
  }
}

async function devToolsAddress(output: NodeJS.ReadableStream): Promise<string> {
  const lines: string[] = [];
  for await (const line of createInterface(output)) {
    const address = /^DevTools listening on (ws:\S+)/.exec(line)?.[1];
    if (address !== undefined) return address;
    lines.push(line);
  }
  throw new Error(`Chromium did not start:\n${lines.join('\n')}`);
}

async function attach(socket: WebSocket): Promise<Page> {
  const waiting = new Map<number, PromiseWithResolvers<Message>>();
  const errors: string[] = [];
  const requested: string[] = [];
  let received = 0;
  let sessionId: string | undefined;

  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    if (message.id !== undefined) return waiting.get(message.id)?.resolve(message);
    observe(message);
  });

  function observe({ method, params }: Message) {
    switch (method) {
      case 'Log.entryAdded':
        if (['error', 'warning'].includes(params.entry.level)) errors.push(params.entry.text);
        break;
      case 'Runtime.consoleAPICalled':
        if (['error', 'warning', 'assert'].includes(params.type)) {
          errors.push(
            params.args
              .map((each: { value?: unknown; description?: string }) => each.value ?? each.description)
              .join(' '),
          );
        }
        break;
      case 'Runtime.exceptionThrown':
        errors.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
        break;
      case 'Network.requestWillBeSent':
        requested.push(params.request.url);
        break;
      case 'Network.loadingFinished':
        received += params.encodedDataLength;
    }
  }

  async function send(method: string, params: object = {}) {
    const id = waiting.size + 1;
    const answer = Promise.withResolvers<Message>();
    waiting.set(id, answer);
    socket.send(JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) }));
    const { result, error } = await answer.promise;
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  const { targetId } = await send('Target.createTarget', { url: 'about:blank' });
  ({ sessionId } = await send('Target.attachToTarget', { targetId, flatten: true }));
  for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await send(`${domain}.enable`);

  async function evaluate<Value>(expression: string): Promise<Value> {
    const { result, exceptionDetails } = await send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
      userGesture: true,
    });
    if (exceptionDetails !== undefined) throw new Error(`${expression.slice(0, 200)}: ${result.description}`);
    return result.value;
  }

  async function waitFor(condition: string) {
    for (const end = Date.now() + 20_000; Date.now() < end; await sleep(50)) {
      if (await evaluate<boolean>(`Boolean(${condition})`)) return;
    }
    throw new Error(`This did not come to hold: ${condition}\n${errors.join('\n')}`);
  }

  const find = (selector: string) => `document.querySelector(${JSON.stringify(selector)})`;

  return {
    errors,
    requested,
    receivedBytes: () => received,
    evaluate,
    waitFor,
    async open(address, condition) {
      await send('Page.navigate', { url: address });
      await waitFor(condition);
    },
    click: (selector) => evaluate(`${find(selector)}.click()`),
    async type(selector, text) {
      await evaluate(`${find(selector)}.focus()`);
      await send('Input.insertText', { text });
    },
    async press(key) {
      const code = { Tab: 9, Enter: 13 }[key];
      const text = key === 'Enter' ? { text: '\r' } : {};
      await send('Input.dispatchKeyEvent', { type: 'keyDown', key, windowsVirtualKeyCode: code, ...text });
      await send('Input.dispatchKeyEvent', { type: 'keyUp', key, windowsVirtualKeyCode: code });
    },
    resize: (width, height) =>
      send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false }),
    screenshot: async () => Buffer.from((await send('Page.captureScreenshot', { format: 'png' })).data, 'base64'),
    prefer: (value) => send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value }] }),
  };
}
