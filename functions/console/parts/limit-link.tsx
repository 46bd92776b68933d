import { linkTo } from '../ui/address.ts';
import { texts } from '../ui/texts.ts';

interface Props {
  readonly userId: string;
  readonly name?: string | null | undefined;
}

/** The address of someone's limits, for operators. */
export function linkToLimitsOf(userId: string): string {
  return linkTo(['operate', 'limits'], { subject: `user:${userId}` });
}

/** For operators: leads from where they see someone to that person's limits. */
export function LimitLink({ userId, name }: Props) {
  const { limits: words } = texts.operate;
  return (
    <a href={linkToLimitsOf(userId)} aria-label={`${words.of} ${name ?? userId}`}>
      {words.title}
    </a>
  );
}
