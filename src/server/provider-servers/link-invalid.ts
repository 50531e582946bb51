import { ApiError } from "#api/errors.ts";

export function linkInvalid(): ApiError {
  return new ApiError("link_invalid", {
    message: "This took more than 10 minutes, or was decided already. Connect the app again.",
  });
}
