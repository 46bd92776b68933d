import type { Settings } from './client/page-settings.ts';
import { Mark } from './ui/mark.tsx';
import { texts } from './ui/texts.ts';
import type { SessionState } from './use-session.ts';

type SignInProps = { readonly settings: Settings } & Pick<SessionState, 'problem' | 'isReturning' | 'begin'>;

/** What the page shows to someone who has not signed in. */
export function SignIn({ settings, problem, isReturning, begin }: SignInProps) {
  return (
    <div class="outside">
      <main class="sign-in" id="content">
        <p class="brand">
          <Mark />
          <span>{texts.brand}</span>
        </p>
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
    </div>
  );
}
