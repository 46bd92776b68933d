/** The frame around all views: the view that the address names, and the ways to the others. */

import type { ComponentType } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { deviceModes, needsReason } from '../device-modes.ts';
import type { Device } from '../schemas/device.ts';
import { apiAddress } from './client/page-settings.ts';
import type { Session } from './client/sign-in.ts';
import { useCall } from './client/use-call.ts';
import { KnownDevices } from './parts/known-devices.ts';
import { go, linkTo, useAddress, useTopOfPages } from './ui/address.ts';
import { Avatar, Dialog, Empty } from './ui/basics.tsx';
import { formatCount } from './ui/format.ts';
import { Icon, type IconName } from './ui/icon.tsx';
import { useKeys } from './ui/keys.ts';
import { Mark } from './ui/mark.tsx';
import { StatusSign } from './ui/status.tsx';
import { statusWord } from './ui/status-looks.ts';
import { texts } from './ui/texts.ts';
import { AddJobsView } from './views/add-jobs-view.tsx';
import { BatchView } from './views/batch-view.tsx';
import { BatchesView } from './views/batches-view.tsx';
import { CompareView } from './views/compare-view.tsx';
import { DevicesView } from './views/devices-view.tsx';
import { JobView } from './views/job-view.tsx';
import { NewBatchView } from './views/new-batch-view.tsx';
import { OperateView } from './views/operate-view.tsx';
import { ProjectsView } from './views/projects-view.tsx';
import { UsageView } from './views/usage-view.tsx';

interface ViewRules {
  readonly View: ComponentType;
  readonly title?: string;
  /** Of its link in the rail. A view without one has none. */
  readonly icon?: IconName;
  /** The view whose link is marked while this one is shown. */
  readonly within?: string;
}

/** By the first part of the address. What a view shows depends on the rest of it. */
const views: Readonly<Record<string, ViewRules>> = {
  batches: { View: BatchesView, title: texts.views.batches, icon: 'batches' },
  batch: { View: BatchView, within: 'batches' },
  job: { View: JobView, within: 'batches' },
  compare: { View: CompareView, title: texts.compare.title, within: 'batches' },
  add: { View: AddJobsView, within: 'batches' },
  new: { View: NewBatchView, title: texts.views.newBatch },
  projects: { View: ProjectsView, title: texts.views.projects, icon: 'projects' },
  devices: { View: DevicesView, title: texts.views.devices, icon: 'devices' },
  usage: { View: UsageView, title: texts.views.usage, icon: 'usage' },
  operate: { View: OperateView, title: texts.views.operate },
};

/** The parts of the operators' view in the rail, by the second part of the address. */
const operatorWays = {
  devices: 'operate',
  limits: 'limits',
  usage: 'usage',
  audit: 'audit',
} as const satisfies Record<string, IconName>;

/** Seconds between two looks at the devices. */
const lookSeconds = 60;

export function Shell({ session, signOut }: { readonly session: Session; readonly signOut: () => void }) {
  const { path } = useAddress();
  const name = path[0] ?? (session.isOperator ? 'operate' : 'batches');
  const { View, title, within } = (Object.hasOwn(views, name) ? views[name] : undefined) ?? { View: NoView };
  const content = useRef<HTMLElement>(null);
  const devices = useCall<Device[]>('/api/v1/devices', {
    query: { availability: ['ACTIVE', 'INACTIVE', 'RETIRED'] },
    again: () => lookSeconds,
  });
  const [asksForKeys, setAsksForKeys] = useState(false);
  useTopOfPages();
  useKeys({
    c: () => go(linkTo(['new'])),
    '/': () => document.querySelector<HTMLElement>('.search input')?.focus(),
    '?': () => setAsksForKeys(true),
  });
  useEffect(() => {
    document.title = title === undefined ? texts.title : `${title} · ${texts.title}`;
    // A reader of the screen hears the new view.
    content.current?.focus({ preventScroll: true });
    // On a phone the ways are one row that scrolls.
    document.querySelector('.rail [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [name]);
  return (
    <KnownDevices.Provider value={devices.answer?.data}>
      <div class="frame">
        <button type="button" class="skip" onClick={() => content.current?.focus()}>
          {texts.common.skip}
        </button>
        <header class="rail">
          <a class="brand" href={linkTo([])} aria-label={texts.title}>
            <Mark />
            <span>{texts.brand}</span>
          </a>
          <a class="button main new-batch" href={linkTo(['new'])}>
            <Icon name="plus" />
            {texts.views.newBatch} <kbd>C</kbd>
          </a>
          <Ways current={name} within={within} isOperator={session.isOperator} />
          <Machines isOperator={session.isOperator} />
          <div class="foot">
            <Avatar name={session.name} />
            <div>
              <span class="person" title={session.userId}>
                {session.name}
              </span>
              <button type="button" class="quiet tiny" onClick={signOut}>
                {texts.signIn.end}
              </button>
            </div>
          </div>
        </header>
        <main id="content" ref={content} tabIndex={-1} key={name}>
          <View />
        </main>
        {asksForKeys && <Keys close={() => setAsksForKeys(false)} />}
      </div>
    </KnownDevices.Provider>
  );
}

interface WaysProps {
  readonly current: string;
  readonly within: string | undefined;
  readonly isOperator: boolean;
}

function Ways({ current, within, isOperator }: WaysProps) {
  const links = Object.entries(views).filter(([, { icon }]) => icon !== undefined);
  return (
    <nav aria-label={texts.common.menu}>
      <ul>
        {links.map(([name, { title, icon }]) => (
          <li key={name}>
            <a href={linkTo([name])} aria-current={name === current ? 'page' : name === within ? 'true' : undefined}>
              <Icon name={icon!} />
              {title}
            </a>
          </li>
        ))}
        <li>
          <a href={`${apiAddress()}/docs`}>
            <Icon name="code" />
            {texts.views.api}
          </a>
        </li>
      </ul>
      {isOperator && <OperatorWays isCurrent={current === 'operate'} />}
    </nav>
  );
}

function OperatorWays({ isCurrent }: { readonly isCurrent: boolean }) {
  const [, part = 'devices'] = useAddress().path;
  const shown = part in operatorWays ? part : 'devices';
  return (
    <>
      <h2>{texts.views.operate}</h2>
      <ul>
        {Object.entries(operatorWays).map(([name, icon]) => (
          <li key={name}>
            <a
              href={linkTo(name === 'devices' ? ['operate'] : ['operate', name])}
              aria-current={isCurrent && name === shown ? (part === name ? 'page' : 'true') : undefined}
            >
              <Icon name={icon} />
              {texts.operate.parts[name as keyof typeof operatorWays]}
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

const maxMachines = 8;

/** Whether the machines are open, and how long their queues are: on every page. */
function Machines({ isOperator }: { readonly isOperator: boolean }) {
  const devices = (useContext(KnownDevices) ?? []).filter(({ mode }) => deviceModes[mode].listed);
  if (devices.length === 0) return null;
  return (
    <section class="machines" aria-label={texts.rail.devices}>
      <h2>{texts.rail.devices}</h2>
      <ul>
        {devices.slice(0, maxMachines).map(({ device_type, availability, mode, queue_length }) => {
          const status = needsReason(mode) ? mode : availability;
          return (
            <li key={device_type}>
              <a href={linkTo(isOperator ? ['operate', 'device', device_type] : ['devices', device_type])}>
                <StatusSign status={status} />
                <bdi>{device_type}</bdi>
                <span class="count">
                  {status === 'ACTIVE' ? queue_length !== null && formatCount(queue_length) : statusWord(status)}
                </span>
              </a>
            </li>
          );
        })}
        {devices.length > maxMachines && (
          <li>
            <a href={linkTo([isOperator ? 'operate' : 'devices'])}>
              {texts.rail.more(formatCount(devices.length - maxMachines))}
            </a>
          </li>
        )}
      </ul>
    </section>
  );
}

function NoView() {
  return (
    <Empty>
      <h1>{texts.views.notFound}</h1>
      <a class="button main" href={linkTo(['batches'])}>
        {texts.views.back}
      </a>
    </Empty>
  );
}

/** All keys that do something. */
function Keys({ close }: { readonly close: () => void }) {
  return (
    <Dialog title={texts.rail.keys} close={close}>
      <dl class="keys">
        {Object.entries(texts.rail.keyNames).map(([key, name]) => (
          <div key={key}>
            <dt>
              <kbd>{key.length === 1 ? key.toUpperCase() : key}</kbd>
            </dt>
            <dd>{name}</dd>
          </div>
        ))}
      </dl>
      <div class="actions">
        <button type="button" onClick={close}>
          {texts.common.close}
        </button>
      </div>
    </Dialog>
  );
}
