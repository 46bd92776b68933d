/** The console: who has signed in. What they see is in shell.tsx. */

import type { Settings } from './client/page-settings.ts';
import { Signed } from './client/use-call.ts';
import { Shell } from './shell.tsx';
import { SignIn } from './sign-in-card.tsx';
import { useSession } from './use-session.ts';

export function ConsoleApp({ settings }: { readonly settings: Settings }) {
  const { signed, signOut, ...signIn } = useSession(settings);
  if (signed === undefined) return <SignIn settings={settings} {...signIn} />;
  return (
    <Signed.Provider value={signed}>
      <Shell session={signed.session} signOut={signOut} />
    </Signed.Provider>
  );
}
