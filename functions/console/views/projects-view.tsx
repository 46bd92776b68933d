import type { SubjectLimits } from '../../schemas/limits.ts';
import { useCall, useSigned } from '../client/use-call.ts';
import type { Member, OwnProject } from '../parts/projects.ts';
import { UsageFigures } from '../parts/usage-figures.tsx';
import { linkTo, useAddress } from '../ui/address.ts';
import { Empty, Facts, Id, Person, Shown } from '../ui/basics.tsx';
import { formatCount } from '../ui/format.ts';
import { type Column, Table } from '../ui/table.tsx';
import { texts } from '../ui/texts.ts';
import { limitFacts } from './limits-form.ts';
import { ProjectActs } from './operate-audit.tsx';

const { projects: words } = texts;

/** The projects of the person, or the one that the address names. */
export function ProjectsView() {
  const {
    path: [, id],
  } = useAddress();
  const list = useCall<OwnProject[]>('/api/v1/projects');
  return (
    <Shown loaded={list}>
      {(projects) => {
        if (id === undefined) return <ProjectsList projects={projects} />;
        const project = projects.find((each) => each.id === id);
        return <ProjectPage key={id} id={id} project={project} />;
      }}
    </Shown>
  );
}

const columns: readonly Column<OwnProject>[] = [
  [
    words.columns.name,
    ({ id, name }) => (
      <a href={linkTo(['projects', id])}>
        <bdi>{name}</bdi>
      </a>
    ),
    'text',
  ],
  [words.columns.role, ({ role }) => role ?? words.noRole],
  [
    words.columns.members,
    ({ members }) => (members === undefined ? texts.common.none : formatCount(members.length)),
    'number',
  ],
  [words.columns.rights, (project) => rightsText(project), 'text'],
];

function ProjectsList({ projects }: { readonly projects: readonly OwnProject[] }) {
  return (
    <>
      <h1>{texts.views.projects}</h1>
      {projects.length === 0 ? (
        <Empty>{words.none}</Empty>
      ) : (
        <Table label={texts.views.projects} columns={columns} rows={projects} keyOf={({ id }) => id} />
      )}
    </>
  );
}

function rightsText({ rights }: OwnProject): string {
  return rights.map((right) => words.rights[right]).join('; ') || words.noRight;
}

function ProjectPage({ id, project }: { readonly id: string; readonly project: OwnProject | undefined }) {
  const back = <a href={linkTo(['projects'])}>{words.back}</a>;
  if (project === undefined) {
    return (
      <Empty>
        <p>{words.unknown}</p>
        {back}
      </Empty>
    );
  }
  const { name, role, rights, members } = project;
  return (
    <>
      <div class="title">
        <h1>
          <bdi>{name}</bdi>
        </h1>
        <div class="actions">
          {back}
          {rights.includes('read') && (
            <a class="button" href={linkTo(['batches'], { scope: 'project', project_id: id })}>
              {words.batches}
            </a>
          )}
          {rights.includes('submit') && (
            <a class="button main" href={linkTo(['new'], { project_id: id })}>
              {words.newBatch}
            </a>
          )}
        </div>
      </div>
      <div class="card">
        <Facts
          facts={[
            [words.facts.id, <Id id={id} />],
            [words.facts.role, role ?? words.noRole],
            [words.facts.rights, rightsText(project)],
          ]}
        />
      </div>
      {members !== undefined && <Members projectId={id} members={members} />}
      {rights.includes('administer') && <Administration projectId={id} members={members ?? []} />}
    </>
  );
}

function Members({ projectId, members }: { readonly projectId: string; readonly members: readonly Member[] }) {
  const { session } = useSigned();
  const linkOf = (user_id: string) => linkTo(['batches'], { scope: 'project', project_id: projectId, user_id });
  const ofMembers: readonly Column<Member>[] = [
    [
      words.members.name,
      ({ user_id, user_name }) => (
        <>
          <Person id={user_id} name={user_name} link={linkOf(user_id)} />
          {user_id === session.userId && <span class="aside"> {words.members.you}</span>}
        </>
      ),
      'text',
    ],
    [
      words.members.batches,
      ({ batches_count: count }) => (count === null ? texts.common.none : formatCount(count)),
      'number',
    ],
  ];
  return (
    <>
      <h2>{words.members.title}</h2>
      <p class="aside">{words.members.hint}</p>
      {members.length === 0 ? (
        <Empty>{words.members.none}</Empty>
      ) : (
        <Table label={words.members.title} columns={ofMembers} rows={members} keyOf={({ user_id }) => user_id} />
      )}
    </>
  );
}

/** What administrators of the project read: its limits and usage, and what was done to its work. */
function Administration({ projectId, members }: { readonly projectId: string; readonly members: readonly Member[] }) {
  const limits = useCall<SubjectLimits>(`/api/v1/limits/${encodeURIComponent(`project:${projectId}`)}`);
  return (
    <>
      <h2>{words.limits}</h2>
      {limits.failure?.status === 404 ? (
        <p>{words.noLimits}</p>
      ) : (
        <Shown loaded={limits}>
          {({ limits: set }) => (
            <div class="card">
              <Facts facts={limitFacts(set)} />
            </div>
          )}
        </Shown>
      )}
      <h2>{words.usage}</h2>
      <UsageFigures scope="project" projectId={projectId} members={members} />
      <h2>{words.acts}</h2>
      <ProjectActs projectId={projectId} />
    </>
  );
}
