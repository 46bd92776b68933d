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
   * 60 s.
   */
  open(address: string, condition: string): Promise<void>;
  /** The value of an expression of JavaScript, awaited; JSON only. */
  evaluate<Value>(expression: string): Promise<Value>;
  /** Waits until the condition holds. Throws after 60 s. */
  waitFor(condition: string): Promise<void>;
  /** Clicks the first element that the selector finds. */
  click(selector: string): Promise<void>;
  /**
   * Clicks the button, link, checkbox or summary of this name, once there is one that can be seen:
   * in the dialog, where one is open. Throws after 60 s.
   */
  choose(name: string): Promise<void>;
  /** Gives the control with this label a value, as its user would. Throws after 60 s. */
  fill(label: string, value: string): Promise<void>;
  /** Puts a file into the control with this label. */
  attach(label: string, file: string): Promise<void>;
  /** Types into the first element that the selector finds. */
  type(selector: string, text: string): Promise<void>;
  /** Presses a key where the focus is. */
  press(key: keyof typeof keys): Promise<void>;
  /** The size of the window, in CSS pixels. */
  resize(width: number, height: number): Promise<void>;
  /** What the system prefers. */
  prefer(scheme: 'light' | 'dark'): Promise<void>;
  /** From now on the network is as slow as this; without it, as fast as it is. */
  slowDown(line?: { readonly milliseconds: number; readonly bitsPerSecond: number }): Promise<void>;
  /** Empties the browser's cache. */
  forget(): Promise<void>;
  /** Takes away cookies, and what this origin has stored for all tabs: no user has signed in. */
  forgetSignIn(origin: string): Promise<void>;
  /** Takes away cookies alone. */
  forgetCookies(): Promise<void>;
  /** Works in another tab of the same browser, then closes it. Its errors are its own. */
  inNewTab<Result>(work: (tab: Page) => Promise<Result>): Promise<Result>;
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

const keys = {
  Tab: { code: 9 },
  Enter: { code: 13, text: '\r' },
  ' ': { code: 32, text: ' ' },
  Escape: { code: 27 },
  ArrowDown: { code: 40 },
};

interface Message {
  readonly id?: number;
  readonly method?: string;
  // biome-ignore lint/suspicious/noExplicitAny: the shapes are the protocol's, by method.
  readonly params?: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  readonly result?: any;
  readonly error?: { readonly message: string };
}

function rejectUnlessLeaving(error: Error): false {
  if (/Runtime.evaluate: .*(context|navigated)/.test(error.message)) return false;
  throw error;
}

/** The element of these that has the name and can be seen, in the open dialog if there is one. */
function named(selector: string, name: string) {
  return `[...(document.querySelector('dialog[open]') ?? document).querySelectorAll(${JSON.stringify(selector)})].find((each) =>
    each.checkVisibility() && (each.getAttribute('aria-label') ?? each.textContent.trim()) === ${JSON.stringify(name)})`;
}

/** The control that a label names, by its own text or around it. */
function control(label: string) {
  return `([...(document.querySelector('dialog[open]') ?? document).querySelectorAll('label')].find((each) =>
    each.checkVisibility() && (each.querySelector('bdi') ?? each.firstChild).textContent.trim() === ${JSON.stringify(label)})?.control
    ?? ${named('input', label)})`;
}

/** Runs in the page. Libraries that keep the value of a control see the event only. */
const setValue = `(control, value) => {
  control.focus();
  control.value = value;
  control.dispatchEvent(new Event('input', { bubbles: true }));
  control.dispatchEvent(new Event('change', { bubbles: true }));
}`;

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
      '--hide-scrollbars',
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
    return await work((await attach(socket)).page);
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

/** A new tab. A socket serves one. */
async function attach(socket: WebSocket): Promise<{ readonly page: Page; readonly close: () => Promise<void> }> {
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
        if (['error', 'warning'].includes(params.entry.level))
          errors.push(`${params.entry.text} ${params.entry.url ?? ''}`);
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
    for (const end = Date.now() + 60_000; Date.now() < end; await sleep(50)) {
      // A page that is being left has no state to ask for.
      const holds = evaluate<boolean>(`Boolean(document.body && (${condition}))`);
      if (await holds.catch((error: Error) => rejectUnlessLeaving(error))) return;
    }
    throw new Error(`This did not come to hold: ${condition}\n${errors.join('\n')}`);
  }

  const find = (selector: string) => `document.querySelector(${JSON.stringify(selector)})`;

  const page: Page = {
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
    async choose(name) {
      const element = named('a, button, summary, input', name);
      await waitFor(element);
      await evaluate(`${element}.click()`);
    },
    async fill(label, value) {
      await waitFor(control(label));
      await evaluate(`(${setValue})(${control(label)}, ${JSON.stringify(value)})`);
    },
    async attach(label, file) {
      await waitFor(control(label));
      const { result } = await send('Runtime.evaluate', { expression: control(label) });
      await send('DOM.setFileInputFiles', { files: [file], objectId: result.objectId });
    },
    async press(key) {
      const { code, ...text } = keys[key];
      await send('Input.dispatchKeyEvent', { type: 'keyDown', key, windowsVirtualKeyCode: code, ...text });
      await send('Input.dispatchKeyEvent', { type: 'keyUp', key, windowsVirtualKeyCode: code });
    },
    slowDown: ({ milliseconds, bitsPerSecond } = { milliseconds: 0, bitsPerSecond: -8 }) =>
      send('Network.emulateNetworkConditions', {
        offline: false,
        latency: milliseconds,
        downloadThroughput: bitsPerSecond / 8,
        uploadThroughput: bitsPerSecond / 8,
      }),
    resize: (width, height) =>
      send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false }),
    forget: () => send('Network.clearBrowserCache'),
    forgetCookies: () => send('Network.clearBrowserCookies'),
    async forgetSignIn(origin) {
      await send('Network.clearBrowserCookies');
      await send('Storage.clearDataForOrigin', { origin, storageTypes: 'local_storage' });
    },
    async inNewTab(work) {
      const own = new WebSocket(socket.url);
      await once(own, 'open');
      const tab = await attach(own);
      try {
        return await work(tab.page);
      } finally {
        await tab.close();
        own.close();
        await send('Page.bringToFront');
      }
    },
    screenshot: async () => Buffer.from((await send('Page.captureScreenshot', { format: 'png' })).data, 'base64'),
    prefer: (value) => send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value }] }),
  };
  return { page, close: () => send('Page.close') };
}
