// Talking to the server: nothing that was entered is lost on the way.
//
// What changes something goes out one after the other. It bears a request id and stays in the
// outbox, which survives a reload, until the server has answered; asked twice, the server answers
// as the first time and changes nothing.

import { ofTab } from "./storage.js";

const PAUSES = [300, 700, 1500, 3000, 5000]; // milliseconds between tries; the last one repeats
const AGAIN = new Set([0, 502, 503, 504, 507]); // worth another try: no answer, too busy, disk full

/** The server said no, or nothing (status 0). */
export class Refused extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

let place = null; // the name of this project's outbox in the tab's storage
let trouble = null; // what keeps the outbox from being emptied: null, "gone" or "full"
let tell = () => {};
let closed = () => {};
let wake = () => {};
let chain = Promise.resolve();
let waiting = 0;

/** A name for one request; `crypto.randomUUID` is not there on pages without TLS. */
export function requestId() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Who hears of trouble, `tell(kind, how many wait, detail)`, and that a token is asked for,
 * `needsToken(whether there was one)`.
 */
export function onTrouble(heard, needsToken) {
  tell = heard;
  closed = needsToken;
}

/** Take the token out of the address, so that it is neither seen nor shared; whether it was there. */
export function takeToken() {
  const found = /^#token=(.+)$/.exec(location.hash);
  if (!found) return false;
  ofTab.set("token", decodeURIComponent(found[1]));
  history.replaceState(null, "", location.pathname);
  return true;
}

/** Take a token, or the link that bears it; a header can have no other signs. */
export const setToken = (told) => ofTab.set("token", told.replace(/^.*#token=/, "").replace(/[^!-~]/g, ""));

function options(body, more = {}) {
  const token = ofTab.get("token");
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  if (body === undefined) return { headers, ...more };
  headers["content-type"] = "application/json";
  return { method: "POST", headers, body: JSON.stringify(body), ...more };
}

async function answered(path, told) {
  let answer;
  try {
    answer = await fetch(path, told);
  } catch {
    throw new Refused(0, "The server does not answer.");
  }
  if (answer.ok) return answer;
  const { detail } = await answer.json().catch(() => ({}));
  if (answer.status === 401) {
    closed(Boolean(ofTab.get("token")));
    throw new Refused(401, "Say first who you are, above. What you entered is kept until then.");
  }
  throw new Refused(answer.status, sentence(detail ?? `the server answers ${answer.status}`));
}

/** A message with a capital letter and a full stop; a file at its beginning keeps its name. */
export function sentence(text) {
  const said = text.trim();
  const first = /^[^:]*\.\w+:/.test(said) ? said.slice(0, 1) : said.slice(0, 1).toUpperCase();
  return `${first}${said.slice(1)}${/[.!?…]$/.test(said) ? "" : "."}`;
}

export const get = async (path) => (await answered(path, options())).json();

/** Ask without changing anything: not tried again. */
export const ask = async (path, body) => (await answered(path, options(body))).json();

/** Send something as the page goes away; whether it arrived is not known. */
export function leave(path, body) {
  return fetch(path, options(body, { keepalive: true })).then((answer) => answer.ok, () => false);
}

/** A file, the name under which it is to be saved, how many sentences it has and how many not. */
export async function file(path) {
  const answer = await answered(path, options());
  const named = /filename\*=UTF-8''([^;]+)/i.exec(answer.headers.get("content-disposition") ?? "");
  const [sentences, left] = (answer.headers.get("x-exported") ?? "").split(", ").map(Number);
  return { blob: await answer.blob(), name: named ? decodeURIComponent(named[1]) : "export", sentences, left };
}

// The outbox

const kept = () => JSON.parse((place && ofTab.get(place)) || "[]");

function keep(entries) {
  if (place) ofTab.set(place, entries.length ? JSON.stringify(entries) : null);
}

function set(kind, detail = "") {
  if (kind === trouble && kind === null) return;
  trouble = kind;
  tell(kind, waiting, detail);
}

async function delivered(entry) {
  for (let tries = 0; ; tries += 1) {
    try {
      const told = await ask(entry.path, entry.body);
      set(null);
      return told;
    } catch (error) {
      if (!AGAIN.has(error.status)) {
        if (error.status !== 401) set(null);
        throw error;
      }
      set(error.status === 507 ? "full" : "gone", error.message);
      await new Promise((done) => {
        wake = done;
        setTimeout(done, PAUSES[Math.min(tries, PAUSES.length - 1)]);
      });
    }
  }
}

/** Change something: the answer comes when the server has it, however long that takes. */
export function post(path, body) {
  const entry = { path, body: { request: requestId(), ...body } };
  keep([...kept(), entry]);
  return queued(entry);
}

function queued(entry) {
  waiting += 1;
  const sent = chain.then(async () => {
    try {
      const told = await delivered(entry);
      forget(entry);
      return told;
    } catch (error) {
      if (error.status !== 401) forget(entry); // without a token it waits for one
      throw error;
    } finally {
      waiting -= 1;
    }
  });
  chain = sent.catch(() => {});
  return sent;
}

function forget(entry) {
  keep(kept().filter((one) => one.body.request !== entry.body.request));
}

/** Send what was left in the outbox before the page was loaded again. */
export async function resume(project) {
  place = `seqpa outbox ${project}`;
  const left = kept();
  const refusals = [];
  for (const entry of left) await queued(entry).catch((error) => refusals.push(error.message));
  return { sent: left.length - refusals.length, refusals };
}

/** Try at once what waits. */
export const tryNow = () => wake();
window.addEventListener("online", () => wake());
