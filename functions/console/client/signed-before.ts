/**
 * Whether someone has signed in here before, so that a page that starts without a session asks the
 * issuer first. It says neither who nor with which token.
 *
 * It is in localStorage: the tab of a middle-click, and one that was opened by hand, start with an
 * empty sessionStorage, since browsers copy that only to windows that keep their opener. A browser
 * may refuse storage: then people sign in by the button, as on their first visit.
 */

const name = 'signed-in';

export function rememberSignIn(): void {
  try {
    localStorage.setItem(name, 'yes');
  } catch {}
}

export function forgetSignIn(): void {
  try {
    localStorage.removeItem(name);
  } catch {}
}

export function hasSignedIn(): boolean {
  try {
    return localStorage.getItem(name) !== null;
  } catch {
    return false;
  }
}
