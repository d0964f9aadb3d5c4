// Choices of a person between readings that a dataset remembers: "always mean this".

import { parseJSON } from "./number";
import { pathTo, request } from "../api/client";

/** A Choice is how the person read a term, as the reply of the turn tells it. */
export interface Choice {
  dataset_id: string;
  term: string;
  reading: string;
  sentence: string;
}

/** A Remembered is a choice that the meaning of its dataset holds. */
export interface Remembered {
  id: string;
  term: string;
  reading: string;
  sentence: string;
}

interface Answer {
  remembered?: Remembered;
  choices?: Remembered[] | null;
}

const place = "/api/datasets/{id}/meaning/choices";
const parsed = async (response: Promise<Response>) => parseJSON(await (await response).text()) as Answer;

/** choiceIn finds the choice in the reply of a turn. */
export function choiceIn(reply: unknown): Choice | undefined {
  const choice = (reply as { choice?: Partial<Choice> | null } | null | undefined)?.choice;
  return choice?.dataset_id && choice.term && choice.reading ? { sentence: "", ...choice } as Choice : undefined;
}

/** listChoices are those that a dataset remembers. */
export const listChoices = async (dataset: string): Promise<Remembered[]> => (await parsed(request(pathTo(place, { id: dataset })))).choices ?? [];

/** remember has the dataset keep a choice. Only a person does this: nothing that a model writes reaches it. */
export const remember = async (c: Choice): Promise<Remembered> =>
  (await parsed(request(pathTo(place, { id: c.dataset_id }), { method: "POST", body: JSON.stringify({ term: c.term, reading: c.reading }), headers: { "Content-Type": "application/json" } }))).remembered!;

/** forget takes a choice back and gives those that are left. */
export const forget = async (dataset: string, id: string): Promise<Remembered[]> => (await parsed(request(pathTo(place + "/{choice}", { id: dataset, choice: id }), { method: "DELETE" }))).choices ?? [];
