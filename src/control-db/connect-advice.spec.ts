import { describe, expect, it } from 'vitest';
import { connectAdvice } from './connect-advice.js';

const failure = (message: string, code?: string) => Object.assign(new Error(message), { code });

describe('advice on a connect that failed', () => {
  it.each([
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'unable to verify the first certificate', 'sslca=FILE'],
    ['HANDSHAKE_SSL_ERROR', 'self-signed certificate in certificate chain', 'sslca=FILE'],
    ['HANDSHAKE_SSL_ERROR', "Hostname/IP does not match certificate's altnames: x", 'another host'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'x', 'another host'],
    ['CERT_HAS_EXPIRED', 'certificate has expired', 'not valid at this time'],
    ['HANDSHAKE_NO_SSL_SUPPORT', 'Server does not support secure connection', 'does not offer TLS'],
    [undefined, 'The server does not support SSL connections', 'does not offer TLS'],
    ['HANDSHAKE_SSL_ERROR', 'wrong version number', 'TLS 1.2'],
    ['ER_ACCESS_DENIED_ERROR', "Access denied for user 'u'@'h'", "the URL's user"],
    ['28P01', 'password authentication failed for user "u"', "the URL's user"],
    ['ER_BAD_DB_ERROR', "Unknown database 'd'", 'create it'],
    ['3D000', 'database "d" does not exist', 'create it'],
    ['ENOTFOUND', 'getaddrinfo ENOTFOUND h', 'no address here'],
  ])('on %s (%s) says what to do', (code, message, said) => {
    expect(connectAdvice(failure(message, code))).toContain(said);
  });

  it('is not given where the server may just be away, and repeats nothing of the error', () => {
    for (const code of ['ECONNREFUSED', 'ETIMEDOUT', 'ECONNRESET']) {
      expect(connectAdvice(failure(`connect ${code} 10.0.0.1:3306`, code))).toBeUndefined();
    }
    expect(connectAdvice('text')).toBeUndefined();
    expect(connectAdvice(failure("Access denied for user 'Zq'", 'ER_ACCESS_DENIED_ERROR'))).not.toContain('Zq');
  });
});
