import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Action } from '../client/use-call.ts';
import { Dialog, Failure } from './basics.tsx';
import { texts } from './texts.ts';

/** The options of a choice, under the names by which they are sent. */
export function Options({ of }: { readonly of: readonly string[] }) {
  return of.map((each) => <option key={each}>{each}</option>);
}

/** What a form does in place of leaving the page. */
export function onSubmit(submit: (form: HTMLFormElement) => void) {
  return (event: { readonly currentTarget: HTMLFormElement; preventDefault(): void }) => {
    event.preventDefault();
    submit(event.currentTarget);
  };
}

interface AddressFormProps {
  readonly address: string;
  readonly look?: string;
  readonly apply: (form: HTMLFormElement) => void;
  readonly children: ComponentChildren;
}

/**
 * A form whose fields begin with what the address says. Only another address draws it again: what
 * is typed stays while its view reads answers.
 */
export function AddressForm(props: AddressFormProps) {
  const { address } = props;
  return useMemo(() => <DrawnForm key={address} {...props} />, [address]);
}

function DrawnForm({ look, apply, children }: AddressFormProps) {
  return (
    <form class={look} onSubmit={onSubmit(apply)}>
      {children}
    </form>
  );
}

/** Asks for a name, such as that of a view's subject. */
export function NameForm({
  label,
  button,
  submit,
}: {
  readonly label: string;
  readonly button: string;
  readonly submit: (name: string) => void;
}) {
  return (
    <form class="below actions" onSubmit={onSubmit((form) => submit(String(new FormData(form).get('name')).trim()))}>
      <label>
        {label}
        <input name="name" required />
      </label>
      <button type="submit" class="low">
        {button}
      </button>
    </form>
  );
}

/** A question, with the fields that it needs. The action closes it. */
export function Question({
  title,
  action,
  isDangerous = false,
  isIdle = false,
  close,
  children,
}: {
  readonly title: string;
  readonly action: Action<[]>;
  readonly isDangerous?: boolean;
  /** There is nothing to do yet. */
  readonly isIdle?: boolean;
  readonly close: () => void;
  readonly children: ComponentChildren;
}) {
  return (
    <Dialog title={title} close={close}>
      <form class="form" onSubmit={onSubmit(() => action.run())}>
        {children}
        <div class="full">
          <Failure failure={action.failure} />
        </div>
        <div class="actions">
          <button type="button" onClick={close}>
            {texts.common.cancel}
          </button>
          <button type="submit" class={isDangerous ? 'danger' : 'main'} disabled={action.isRunning || isIdle}>
            {title}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
