/** A token that a client gets by its id and secret (RFC 6749, section 4.4). */
export async function clientToken(tokenEndpoint: string, id: string, secret: string): Promise<string> {
  const basic = Buffer.from(`${id}:${secret}`).toString('base64');
  const response = await fetch(tokenEndpoint, {
    method: 'POST',
    headers: { Authorization: `Basic ${basic}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  const { access_token: token } = (await response.json()) as { access_token?: string };
  if (token === undefined) throw new Error(`${tokenEndpoint} answers ${response.status} without a token.`);
  return token;
}
