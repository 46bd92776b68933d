/** The console: who has signed in, the view that the address names, and the ways to the others. */

import type { ComponentType } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { apiAddress, type Settings } from './client/page-settings.ts';
import { CallFailed, createApi, noAnswer } from './client/public-api.ts';
import {
  beginSignIn,
  finishSignIn,
  isRenewable,
  renew,
  type Session,
  SignInFailed,
  signOutAddress,
} from './client/sign-in.ts';
import { Signed } from './client/use-call.ts';
import { linkTo, useAddress } from './ui/address.ts';
import { texts } from './ui/texts.ts';
import { BatchView } from './views/batch-view.tsx';
import { BatchesView } from './views/batches-view.tsx';
import { DevicesView } from './views/devices-view.tsx';
import { JobView } from './views/job-view.tsx';
import { NewBatchView } from './views/new-batch-view.tsx';
import { OperateView } from './views/operate-view.tsx';
import { ProjectsView } from './views/projects-view.tsx';
import { UsageView } from './views/usage-view.tsx';

/** By the first part of the address. What a view shows depends on the rest of it. */
const views: Readonly<
  Record<string, { readonly View: ComponentType; readonly title?: string; readonly operators?: true }>
> = {
  batches: { View: BatchesView, title: texts.views.batches },
  batch: { View: BatchView },
  job: { View: JobView },
  new: { View: NewBatchView, title: texts.views.newBatch },
  projects: { View: ProjectsView, title: texts.views.projects },
  devices: { View: DevicesView, title: texts.views.devices },
  usage: { View: UsageView, title: texts.views.usage },
  operate: { View: OperateView, title: texts.views.operate, operators: true },
};

/** How long before it expires a token is renewed. */
const renewalMilliseconds = 60_000;

export function ConsoleApp({ settings }: { readonly settings: Settings }) {
  const [session, setSession] = useState<Session>();
  const [problem, setProblem] = useState<string>();
  const [isReturning, setReturning] = useState(true);
  useEffect(() => {
    finishSignIn(settings)
      .then(setSession, (error: unknown) => setProblem(describe(error)))
      .finally(() => setReturning(false));
  }, [settings]);
  const held = useRef<Held>({ current: undefined }).current;
  held.current = session;
  const signed = useMemo(() => {
    if (session === undefined) return undefined;
    return { session, api: createApi((refused) => freshToken(settings, held, { setSession, setProblem }, refused)) };
    // A renewed session is the same person: views stay as they are.
  }, [session?.userId, settings]);
  if (signed === undefined) {
    return <SignIn settings={settings} problem={problem} isReturning={isReturning} setProblem={setProblem} />;
  }
  const signOut = async () => {
    setSession(undefined);
    const address = await signOutAddress(settings).catch(() => undefined);
    if (address !== undefined) location.assign(address);
  };
  return (
    <Signed.Provider value={signed}>
      <Shell session={signed.session} signOut={() => void signOut()} />
    </Signed.Provider>
  );
}

/**
 * A token that is valid for a while, and is not the refused one. If there is none, the person signs
 * in again. Throws CallFailed.
 */
async function freshToken(
  settings: Settings,
  held: Held,
  { setSession, setProblem }: Setters,
  refused: string | undefined,
): Promise<string> {
  const session = held.current;
  if (session === undefined) throw signedOut();
  const left = session.accessToken === refused ? 0 : session.expiresAt - Date.now();
  if (left > renewalMilliseconds || (left > 0 && !isRenewable(session))) return session.accessToken;
  const replace = async () => {
    try {
      const renewed = await renew(settings, session);
      held.current = renewed;
      setSession(renewed);
      return renewed.accessToken;
    } catch (error) {
      if (!(error instanceof SignInFailed)) throw noAnswer();
      setProblem(texts.signIn.again);
      setSession(undefined);
      throw signedOut();
    }
  };
  // Calls at the same time share one renewal: a refresh token may count once only.
  held.renewal ??= replace().finally(() => {
    held.renewal = undefined;
  });
  return held.renewal;
}

const signedOut = () => new CallFailed(401, { message: texts.signIn.again });

interface Held {
  current: Session | undefined;
  renewal?: Promise<string> | undefined;
}

interface Setters {
  readonly setSession: (session: Session | undefined) => void;
  readonly setProblem: (problem: string) => void;
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

interface SignInProps {
  readonly settings: Settings;
  readonly problem: string | undefined;
  readonly isReturning: boolean;
  readonly setProblem: (problem: string) => void;
}

function SignIn({ settings, problem, isReturning, setProblem }: SignInProps) {
  const begin = () => void beginSignIn(settings).catch((error: unknown) => setProblem(describe(error)));
  return (
    <main class="sign-in" id="content">
      <h1>{texts.title}</h1>
      {problem !== undefined && (
        <p class="failure" role="alert">
          {problem}
        </p>
      )}
      {isReturning ? (
        <p role="status">{texts.common.loading}</p>
      ) : settings.clientId === undefined ? (
        <p>{texts.signIn.noClient}</p>
      ) : (
        <>
          <p>{texts.signIn.welcome}</p>
          <button type="button" class="main" onClick={begin}>
            {texts.signIn.begin}
          </button>
        </>
      )}
    </main>
  );
}

function Shell({ session, signOut }: { readonly session: Session; readonly signOut: () => void }) {
  const { path } = useAddress();
  const name = path[0] ?? 'batches';
  const { View } = views[name] ?? views.batches!;
  /** The list that leads to the view. */
  const parent = name === 'batch' || name === 'job' ? 'batches' : undefined;
  const content = useRef<HTMLElement>(null);
  useEffect(() => {
    const title = views[name]?.title;
    document.title = title === undefined ? texts.title : `${title} · ${texts.title}`;
    // A reader of the screen hears the new view.
    content.current?.focus({ preventScroll: true });
  }, [name]);
  const links = Object.entries(views).filter(
    ([, { title, operators }]) => title !== undefined && (operators !== true || session.isOperator),
  );
  return (
    <>
      <button type="button" class="skip" onClick={() => content.current?.focus()}>
        {texts.common.skip}
      </button>
      <header>
        <a class="brand" href={linkTo(['batches'])}>
          {texts.title}
        </a>
        <nav aria-label={texts.common.menu}>
          {links.map(([each, { title }]) => (
            <a
              key={each}
              href={linkTo([each])}
              aria-current={each === name ? 'page' : each === parent ? 'true' : undefined}
            >
              {title}
            </a>
          ))}
          <a href={`${apiAddress()}/docs`}>API</a>
        </nav>
        <span class="person" title={session.userId}>
          {session.name}
        </span>
        <button type="button" onClick={signOut}>
          {texts.signIn.end}
        </button>
      </header>
      <main id="content" ref={content} tabIndex={-1} key={name}>
        <View />
      </main>
    </>
  );
}
