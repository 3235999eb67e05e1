/** What failed connects have in common, by the drivers' codes and words, and what an operator can do about each. */
const ADVICE: readonly [RegExp, string][] = [
  [/ALTNAME|altnames/, 'Its certificate is for another host: the URL has to use the name that stands in it.'],
  [
    /SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)|CERT_SIGNATURE_FAILURE|self-signed|unable to (?:get|verify)|certificate signature/,
    'Its certificate is not from an authority that is trusted here: name the PEM file of the right one in the URL (sslca=FILE).',
  ],
  [
    /CERT_HAS_EXPIRED|CERT_NOT_YET_VALID|certificate (?:has expired|is not yet valid)/,
    'Its certificate is not valid at this time: renew it, or set the clock.',
  ],
  [/NO_SSL_SUPPORT|does not support SSL/, 'It does not offer TLS: switch it on there, or take ssl out of the URL.'],
  [/HANDSHAKE_SSL|EPROTO|ERR_SSL|establishing an SSL/, 'TLS did not come about: it has to speak TLS 1.2 or later.'],
  [
    /ER_ACCESS_DENIED|ER_DBACCESS_DENIED|28P01|28000/,
    "It does not let the URL's user in: see user, password and rights, and percent-encode special characters.",
  ],
  [/ER_BAD_DB|3D000/, "It has no database of the URL's name: create it; the tables come by themselves."],
  [/ENOTFOUND|EAI_AGAIN/, "The URL's host name has no address here."],
];

/**
 * What an operator can do where connecting to the control database failed, in a sentence without any part of the URL;
 * undefined where waiting may do.
 */
export function connectAdvice(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as { code?: unknown };
  // MySQL's driver puts a code of its own over that of the certificate's mistake, so the words count too.
  const text = `${typeof code === 'string' ? code : ''} ${error.message}`;
  return ADVICE.find(([pattern]) => pattern.test(text))?.[1];
}
