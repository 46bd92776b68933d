/** The measured filters, in a form from which both a FilterExpression and SQL are made. */

import type { ListName, ListQuery } from './list-cases.ts';

export interface Filter {
  readonly attribute: string;
  readonly operator: 'in' | '>=' | '<=' | 'contains' | 'not empty' | 'starts with';
  readonly value: string | number | boolean | readonly string[];
}

type Form = Omit<Filter, 'value'>;

const common: Readonly<Record<string, Form>> = {
  id: { attribute: 'id', operator: 'in' },
  id__starts_with: { attribute: 'id', operator: 'starts with' },
  status: { attribute: 'status', operator: 'in' },
  project_id: { attribute: 'project_id', operator: 'in' },
};

const forms: Readonly<Record<ListName, Readonly<Record<string, Form>>>> = {
  batches: {
    ...common,
    device_type: { attribute: 'device_type', operator: 'in' },
    queue_priority: { attribute: 'queue_priority', operator: 'in' },
    tag: { attribute: 'tags', operator: 'contains' },
    min_jobs: { attribute: 'jobs_count', operator: '>=' },
    start_date: { attribute: 'start_datetime', operator: '>=' },
    end_date: { attribute: 'end_datetime', operator: '<=' },
  },
  jobs: {
    ...common,
    batch_id: { attribute: 'batch_id', operator: 'in' },
    errors: { attribute: 'errors', operator: 'not empty' },
  },
};

const orderAndPage = new Set(['order_by', 'order_by_direction', 'limit', 'offset']);

export function filtersOf(list: ListName, query: ListQuery): Filter[] {
  return Object.entries(query)
    .filter(([name]) => !orderAndPage.has(name))
    .map(([name, value]) => {
      const form = forms[list][name];
      if (form === undefined) throw new RangeError(`The benchmark has no form of the filter ${name}.`);
      return { ...form, value };
    });
}
