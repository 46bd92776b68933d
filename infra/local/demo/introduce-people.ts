import type { Account } from '../issuer/accounts.ts';
import type { Issuer } from '../issuer/issuer.ts';
import { callPatiently } from './announce-devices.ts';

type Person = Account & { readonly project: NonNullable<Account['project']> };

/**
 * Lets people submit something to their project, and cancel it: events do not say what people are
 * called, but their tokens do. Another start with the same data repeats the calls: it adds nothing.
 */
export async function introducePeople(
  stack: { readonly baseUrl: string; readonly issuer: Issuer },
  people: readonly Person[],
): Promise<void> {
  for (const person of people) {
    const headers = {
      Authorization: `Bearer ${await stack.issuer.token(person)}`,
      'Idempotency-Key': 'introduction',
    };
    const body = JSON.stringify({ project_id: person.project.id, device_type: 'EMU_FREE', open: true });
    const created = await callPatiently(`${stack.baseUrl}/api/v1/batches`, { method: 'POST', headers, body });
    if (!created.ok) throw new Error(`${person.username} cannot submit: ${await created.text()}`);
    const { data } = (await created.json()) as { data: { id: string } };
    await callPatiently(`${stack.baseUrl}/api/v2/batches/${data.id}/cancel`, { method: 'PATCH', headers });
  }
}
