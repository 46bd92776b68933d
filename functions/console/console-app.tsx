/** The console: who has signed in. What they see is in shell.tsx. */

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Settings } from './client/page-settings.ts';
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
import { Shell } from './shell.tsx';
import { texts } from './ui/texts.ts';

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
