/** What an endpoint answers with: a JSON text, so that stored JSON can be passed on as it is, and headers of its own. */
export interface Reply {
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The envelope of success around one value. */
export function success(data: unknown): Reply {
  return { body: `{${envelope},"data":${JSON.stringify(data)}}` };
}

export interface Pagination {
  readonly total: number;
  readonly start: number;
  readonly end: number;
}

/** The envelope of success around JSON texts, one for each item. */
export function successList(items: readonly string[], pagination: Pagination): Reply {
  return { body: `{${envelope},"data":[${items.join()}],"pagination":${JSON.stringify(pagination)}}` };
}

const envelope = '"status":"success","message":"OK.","code":"200"';
