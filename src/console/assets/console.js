import { Feed } from './feed.js';
import { ago } from './format.js';
import { View } from './view.js';

const KEPT = 'tidb-cloud-mcp console token';

const TEXTS = {
  'signed-out': 'No token',
  connecting: 'Connecting',
  live: 'Live',
  stale: 'Stale: no answer for more than 10 s',
  paused: 'Paused',
  hidden: 'Paused while hidden',
  limited: 'Too many tries with a wrong token',
  unauthorised: 'Wrong token',
  off: 'The console is off',
  unreachable: 'Unreachable, trying again',
};

const byId = (id) => document.getElementById(id);
const view = new View();
const feed = new Feed(
  (report) => {
    keepToken();
    byId('dashboard').hidden = false;
    view.show(report);
  },
  (state, text) => showState(state, text),
);
/** The token in use, until it is known to be right or wrong. */
let trying;
let isPaused = false;

function showState(state, text) {
  const said = state === 'unreachable' && text !== '' ? `${TEXTS[state]} (${text})` : TEXTS[state];
  const place = byId('state');
  // Only a change is read out.
  if (place.textContent !== said) place.textContent = said;
  place.dataset.state = state;
  const isSignedIn = !['signed-out', 'unauthorised', 'off'].includes(state);
  byId('actions').hidden = !isSignedIn;
  byId('sign-in').hidden = isSignedIn || state === 'off';
  byId('dashboard').classList.toggle('outdated', ['stale', 'unreachable', 'limited'].includes(state));
  if (!isSignedIn) byId('dashboard').hidden = true;
  if (state === 'unreachable') view.showUnreachable();
  if (state === 'unauthorised') refuseToken();
  if (state === 'off') byId('updated').textContent = text;
}

function keepToken() {
  byId('sign-in-error').textContent = '';
  byId('token').removeAttribute('aria-invalid');
  if (trying !== undefined) sessionStorage.setItem(KEPT, trying);
  trying = undefined;
}

function refuseToken() {
  trying = undefined;
  sessionStorage.removeItem(KEPT);
  byId('sign-in-error').textContent = 'This is not the admin token of this server.';
  byId('token').setAttribute('aria-invalid', 'true');
  byId('token').focus();
}

function begin(token) {
  trying = token;
  showPaused(false);
  feed.start(token);
}

function showPaused(paused) {
  isPaused = paused;
  byId('pause').textContent = paused ? 'Go on' : 'Pause';
}

/** Takes the token out of the link's fragment, and out of the address, where others could read it. */
function fromFragment() {
  // Not as a form's fields, where a plus sign would be a space.
  const [, token] = /^#token=(.+)$/.exec(location.hash) ?? [];
  if (token === undefined) return undefined;
  history.replaceState(null, '', location.pathname + location.search);
  return decoded(token);
}

/** Browsers encode some characters of a fragment; a token may have a percent sign of its own. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

byId('sign-in').addEventListener('submit', (event) => {
  event.preventDefault();
  begin(byId('token').value.trim());
  byId('token').value = '';
});

byId('pause').addEventListener('click', () => {
  showPaused(!isPaused);
  feed.pause(isPaused);
});

byId('forget').addEventListener('click', () => {
  sessionStorage.removeItem(KEPT);
  feed.stop();
  byId('token').focus();
});

addEventListener('hashchange', () => {
  const token = fromFragment();
  if (token !== undefined) begin(token);
});

setInterval(() => {
  const { ageMs } = feed;
  if (byId('state').dataset.state === 'off') return;
  byId('updated').textContent = ageMs === undefined ? '' : `Data from ${ago(Math.floor(ageMs / 1000))}`;
}, 1000);

const token = fromFragment() ?? sessionStorage.getItem(KEPT) ?? undefined;
if (token === undefined) feed.stop();
else begin(token);
