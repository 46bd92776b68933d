/** Who has signed in: from the start of the page until they sign out, or their token ends. */

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Settings } from './client/page-settings.ts';
import { type Api, CallFailed, createApi, noAnswer } from './client/public-api.ts';
import {
  beginSignIn,
  finishSignIn,
  isAnswered,
  isRenewable,
  renew,
  resumeSignIn,
  type Session,
  SignInFailed,
  signOut,
} from './client/sign-in.ts';
import { texts } from './ui/texts.ts';

/** How long before it expires a token is renewed. */
const renewalMilliseconds = 60_000;

export interface SessionState {
  /** The person and the API for them; undefined until someone has signed in. */
  readonly signed: { readonly session: Session; readonly api: Api } | undefined;
  /** Why the last sign-in failed. */
  readonly problem: string | undefined;
  /** Whether it is not known yet who is here. */
  readonly isReturning: boolean;
  /** Leaves for the issuer's page. */
  readonly begin: () => void;
  /** Ends the issuer's session, too. */
  readonly signOut: () => void;
}

export function useSession(settings: Settings): SessionState {
  const [session, setSession] = useState<Session>();
  const [problem, setProblem] = useState<string>();
  const [isReturning, setReturning] = useState(true);
  useEffect(() => {
    const fail = (error: unknown) => setProblem(describe(error));
    const start = async () => {
      if (isAnswered()) await finishSignIn(settings).then(setSession, fail);
      else if (await resumeSignIn(settings)) return;
      setReturning(false);
    };
    void start();
  }, [settings]);
  const held = useRef<Held>({ current: undefined }).current;
  held.current = session;
  const signed = useMemo(() => {
    if (session === undefined) return undefined;
    return { session, api: createApi((refused) => freshToken(settings, held, { setSession, setProblem }, refused)) };
    // A renewed session is the same person: views stay as they are.
  }, [session?.userId, settings]);
  const end = async () => {
    setSession(undefined);
    const address = await signOut(settings).catch(() => undefined);
    if (address !== undefined) location.assign(address);
  };
  return {
    signed,
    problem,
    isReturning,
    begin: () => void beginSignIn(settings).catch((error: unknown) => setProblem(describe(error))),
    signOut: () => void end(),
  };
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
