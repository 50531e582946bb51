import type { SlackChannel, SlackClient, SlackContext } from "./client.ts";
import { type Room, toRoom } from "./map.ts";

/**
 * Returns the channels to read, by id: those that the config names, or all channels of the account. `odd` are the ids
 * of channels that could not be parsed and may be among the channels to read. `isWhole` = there are no further such
 * channels. `missing` are the channels that the config names and Slack doesn't show.
 */
export async function readChannels(
  { config }: Pick<SlackContext, "config">,
  client: SlackClient,
): Promise<{ rooms: Room[]; odd: string[]; isWhole: boolean; missing: string[] }> {
  const named = new Set(config.channels.map((name) => name.replace(/^#/, "")));
  const isRead = ({ id, name, is_im, is_mpim, is_member, is_private }: SlackChannel) => {
    if (is_im || is_mpim) return config.directMessages;
    const isNamed = named.has(id) || (name !== undefined && named.has(name));
    return named.size === 0 ? is_member : isNamed && (is_member || !is_private);
  };
  const { channels, odd, isWhole } = await client.channels();
  const rooms = channels.filter(isRead).map(toRoom);
  const found = new Set(rooms.flatMap(({ id, name }) => [id, name.replace(/^#/, "")]));
  return {
    rooms: rooms.sort((a, b) => (a.id < b.id ? -1 : 1)),
    odd,
    isWhole,
    missing: isWhole && odd.length === 0 ? [...named].filter((name) => !found.has(name)) : [],
  };
}
